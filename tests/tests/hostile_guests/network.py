"""Gives the loopback of a network namespace the addresses of all kinds of networks."""

import fcntl
import socket
import struct

SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
UP = 0x1 | 0x40

# All of a network is there where the loopback has it.
NETWORKS = [
    ("lo", "127.0.0.1", "255.0.0.0"),
    ("lo:1", "93.184.0.1", "255.255.0.0"),
    ("lo:2", "10.0.0.1", "255.0.0.0"),
    ("lo:3", "172.16.0.1", "255.240.0.0"),
    ("lo:4", "192.168.0.1", "255.255.0.0"),
    ("lo:5", "100.64.0.1", "255.192.0.0"),
    ("lo:6", "169.254.0.1", "255.255.0.0"),
    ("lo:7", "198.18.0.1", "255.254.0.0"),
]
ADDRESSES = ["64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "fd00::1", "2606:4700::22"]

four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(four, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", UP))
for name, address, mask in NETWORKS:
    for request, text in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, mask)):
        value = socket.inet_aton(text)
        fcntl.ioctl(four, request, struct.pack("16sHH4s8x", name.encode(), socket.AF_INET, 0, value))
    fcntl.ioctl(four, SIOCSIFFLAGS, struct.pack("16sh14x", name.encode(), UP))

six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
index = socket.if_nametoindex("lo")
for address in ADDRESSES:
    value = socket.inet_pton(socket.AF_INET6, address)
    fcntl.ioctl(six, SIOCSIFADDR, struct.pack("16sIi", value, 128, index))
