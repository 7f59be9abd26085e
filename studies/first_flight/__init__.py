"""The estimate of servers' initial windows, held against windows that are known:
a real TCP stack in the lab."""
