"""What is found out about a release after its publication: errata,
which lie beside the releases that they are about."""
