"""The figures of reports and of the service: typed rows become Vega-Lite charts, drawn as SVG and PNG.

A chart is a pure function of its rows and of a `Frame`, which has its title, source and width. `rendering`
draws it, and gives its Vega-Lite to browsers.
"""
