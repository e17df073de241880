#!/usr/bin/env python3
"""A tree with everything that backups lose, and a comparer that shares nothing with klock.

specimen.py make DIR   makes it, and names on stdout what this machine does not permit
specimen.py show DIR   prints every property of everything in it, one line each, sorted
"""
import hashlib
import os
import socket
import stat
import struct
import subprocess
import sys


def attempt(what, action):
    try:
        action()
    except OSError as e:
        print("not permitted here: %s (%s)" % (what, e.strerror))


def write(path, content=b"content\n", mode=0o644):
    with open(path, "wb") as f:
        f.write(content)
    os.chmod(path, mode)


def acl(*entries):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, bits, who) for tag, bits, who in entries)


def make(root):
    everyone = 0xffffffff
    os.mkdir(root)
    j = lambda *names: os.path.join(root, *[os.fsencode(n) for n in names])
    write(j("plain"))
    write(j("setuid"), mode=0o4755)
    write(j("setgid"), mode=0o2755)
    write(j("none"), mode=0o000)
    write(j("empty"), b"")
    write(j("crlf"), b"\xef\xbb\xbfa\r\nb\xe4\r\n\x00\x01")
    os.mkdir(j("sticky"))
    os.chmod(j("sticky"), 0o1777)
    os.makedirs(j("empty-dir", "below"))
    os.mkdir(j("private"))
    write(j("private", "key"), mode=0o600)
    os.chmod(j("private"), 0o700)
    write(j("owned"))
    attempt("owners", lambda: os.chown(j("owned"), 1234, 4321))
    write(j("xattrs"))
    attempt("user attributes", lambda: os.setxattr(j("xattrs"), "user.note", b"\x00kept\xff"))
    attempt("trusted attributes", lambda: os.setxattr(j("xattrs"), "trusted.note", b"kept"))
    write(j("acl"), mode=0o640)
    attempt("ACLs", lambda: os.setxattr(j("acl"), "system.posix_acl_access",
                                        acl((1, 6, everyone), (2, 6, 1234), (4, 4, everyone), (0x10, 6, everyone), (0x20, 0, everyone))))
    os.mkdir(j("acl-dir"))
    attempt("default ACLs", lambda: os.setxattr(j("acl-dir"), "system.posix_acl_default",
                                                acl((1, 7, everyone), (2, 5, 1234), (4, 5, everyone), (0x10, 5, everyone), (0x20, 0, everyone))))
    write(j("capable"), mode=0o755)
    attempt("capabilities", lambda: os.setxattr(j("capable"), "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)))
    os.symlink(b"plain", j("link"))
    os.symlink(b"nowhere/\xff", j("dangling"))
    os.symlink(b"..", j("up"))
    write(j("one-of-three"), b"three names\n")
    os.mkdir(j("names"))
    os.link(j("one-of-three"), j("names", "two"))
    os.link(j("one-of-three"), j("three"))
    with open(j("sparse"), "wb") as f:
        f.seek(1 << 20)
        f.write(b"middle")
        f.truncate(4 << 20)
    os.mkfifo(j("fifo"), 0o620)
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(root)
    listener.bind("socket")
    os.chdir(here)
    listener.close()
    attempt("devices", lambda: os.mknod(j("device"), stat.S_IFCHR | 0o644, os.makedev(1, 3)))
    write(j("new\nline"))
    write(os.path.join(root, b"latin-\xe9\xff"))
    write(j("n" * 255))
    os.mkdir(j("git"))
    try:
        subprocess.run(["git", "init", "-q", j("git")], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        print("not here: git")
    base = 1_234_567_890_123_456_789
    i = 0
    for directory, below, files in os.walk(root, topdown=False):
        for name in files + below:
            i += 1
            os.utime(os.path.join(directory, name), ns=(base + i * 7, base - i * 1_000_000_007), follow_symlinks=False)
    os.utime(root, ns=(base, base))


def holes(path, size):
    """Where data is, as far as the file system tells."""
    found = []
    fd = os.open(path, os.O_RDONLY)
    try:
        at = 0
        while at < size:
            try:
                start = os.lseek(fd, at, os.SEEK_DATA)
            except OSError:
                break
            at = os.lseek(fd, start, os.SEEK_HOLE)
            found.append((start, at))
    finally:
        os.close(fd)
    return found


def show(root):
    lines = []
    groups = {}
    entries = [root]
    for directory, below, files in os.walk(root):
        entries += [os.path.join(directory, name) for name in below + files]
    for path in sorted(entries):
        s = os.lstat(path)
        name = os.path.relpath(path, root)
        link = stat.S_ISLNK(s.st_mode)
        # what stands in a directory decides its size on some file systems
        size = 0 if stat.S_ISDIR(s.st_mode) else s.st_size
        line = "%r %o %d:%d size %d mtime %d" % (name, s.st_mode, s.st_uid, s.st_gid, size,
                                                 s.st_mtime_ns if "--ns-all" in sys.argv
                                                 or stat.S_ISREG(s.st_mode) or stat.S_ISDIR(s.st_mode) else s.st_mtime_ns // 1000)
        if s.st_rdev:
            line += " rdev %d" % s.st_rdev
        if not stat.S_ISDIR(s.st_mode) and s.st_nlink > 1:
            line += " one of %d with %r" % (s.st_nlink, groups.setdefault(s.st_ino, name))
        if link:
            line += " -> %r" % os.readlink(path)
        else:
            try:
                for attribute in sorted(os.listxattr(path, follow_symlinks=False)):
                    line += " %s=%r" % (attribute, os.getxattr(path, attribute, follow_symlinks=False))
            except OSError:
                pass
        if stat.S_ISREG(s.st_mode) and (os.geteuid() == 0 or s.st_mode & 0o400):
            with open(path, "rb") as f:
                line += " " + hashlib.sha256(f.read()).hexdigest()
            if s.st_size >= 1 << 20:
                line += " data %r" % holes(path, s.st_size)
        lines.append(line)
    print("\n".join(lines))


if __name__ == "__main__":
    what, where = sys.argv[1], os.fsencode(sys.argv[2])
    make(where) if what == "make" else show(where)
