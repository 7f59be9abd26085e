"""What others counted: the routes and charts of outside series."""
