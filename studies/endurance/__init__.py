"""A crawl of thousands of local pages whose crawlers, browsers and database are killed,
with the memory that it takes."""
