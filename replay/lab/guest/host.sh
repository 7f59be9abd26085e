# What the guest's first process is for a host: in namespaces of its own, so that nothing of the host's is touched.
# Arguments: the folder of the driver, and its work.
set -e
mount -t tmpfs tmpfs /run # Mininet and iproute2 write there
if [ -d /proc/sys/net/ipv6 ]; then
    echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 # its own packets would be in the queue
    echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
fi
ip link set lo up
exec /usr/bin/python3 -I -S "$1/driver.py" "$2" 2>&1
