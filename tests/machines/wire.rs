//! A machine of its own, as far as the network goes.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::world::ends::ends;

/// A network namespace with one wire, at whose other end the server is heard.
pub(crate) struct Machine {
    namespace: String,
    wire: String,
    /// Its own address.
    address: String,
    /// Where it reaches the server.
    pub(crate) server: String,
    pub(crate) port: u16,
}

fn ip(args: &[&str]) {
    ends(Command::new("ip").args(args), 0);
}

impl Machine {
    /// Joins a machine to the server that listens on this port of 127.0.0.1. None where this may not be done.
    pub(crate) fn joined_to(port: u16) -> Option<Self> {
        let mut machine = Self::facing(port)?;
        let listener = TcpListener::bind((machine.server.as_str(), 0)).expect("the wire's end");
        machine.port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || hand_on(&listener, port));
        Some(machine)
    }

    /// A machine whose wire ends at the server itself, which listens on this port of every address. None where this may
    /// not be done.
    pub(crate) fn facing(port: u16) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (number, process) = (NUMBER.fetch_add(1, Ordering::Relaxed), std::process::id());
        let namespace = format!("locked-{process}-{number}");
        // A name of an interface has 15 characters at most.
        let (wire, far) = (format!("lk{process}{number}a"), format!("lk{process}{number}b"));
        let made = Command::new("ip").args(["netns", "add", &namespace]).output();
        if !made.is_ok_and(|made| made.status.success()) {
            return None;
        }
        let net = format!("10.{}.{}", 64 + process % 128, (process / 128 + number * 61) % 256);
        let machine = Self { namespace, wire, server: format!("{net}.1"), address: format!("{net}.2"), port };
        let (wire, namespace) = (&machine.wire, &machine.namespace);
        ip(&["link", "add", wire, "type", "veth", "peer", "name", &far, "netns", namespace]);
        ip(&["address", "add", &format!("{}/30", machine.server), "dev", wire]);
        ip(&["link", "set", wire, "up"]);
        machine.inside(&["address", "add", &format!("{}/30", machine.address), "dev", &far]);
        machine.inside(&["link", "set", &far, "up"]);
        Some(machine)
    }

    /// Not `ip -n`, which mounts things besides, and may not where the root is no mount of its own (chroot).
    fn inside(&self, args: &[&str]) {
        ends(Command::new("nsenter").arg(format!("--net=/run/netns/{}", self.namespace)).arg("ip").args(args), 0);
    }

    /// The program, on this machine.
    pub(crate) fn runs(&self, command: &Command) -> Command {
        let mut there = Command::new("nsenter");
        there.arg(format!("--net=/run/netns/{}", self.namespace)).arg(command.get_program()).args(command.get_args());
        there.env_clear();
        for (name, value) in command.get_envs() {
            there.env(name, value.unwrap_or(OsStr::new("")));
        }
        if let Some(directory) = command.get_current_dir() {
            there.current_dir(directory);
        }
        there
    }

    /// Nothing comes through any more, and nobody is told.
    pub(crate) fn cut(&self) {
        ip(&["link", "set", &self.wire, "down"]);
    }

    /// The same, and neither end sees that its own wire is down: what comes is for nobody there.
    pub(crate) fn lose_packets(&self) {
        let far = format!("{}b", self.wire.trim_end_matches('a'));
        let nobody = ["lladdr", "02:00:00:00:00:01", "nud", "permanent", "dev"];
        ip(&[&["neighbor", "replace", &self.address], &nobody[..], &[&self.wire]].concat());
        self.inside(&[&["neighbor", "replace", &self.server], &nobody[..], &[&far]].concat());
    }

    /// Something comes through again.
    pub(crate) fn mend(&self) {
        ip(&["link", "set", &self.wire, "up"]);
        for words in [&["clsact"][..], &["root"]] {
            // What was not done need not be undone.
            let _was_there = self.tc(&[&["qdisc", "delete", "dev", &self.wire], words].concat());
        }
    }

    /// Three of ten packets get lost, either way. False where this kernel cannot do that.
    pub(crate) fn lose_some(&self) -> bool {
        // For the kernel's packet filter: a random number; is it in the upper three tenths? Then drop (2), else go on (0).
        let three_of_ten = "4,32 0 0 4294963256,53 0 1 3006477107,6 0 0 2,6 0 0 0";
        let filter =
            |way| self.tc(&["filter", "add", "dev", &self.wire, way, "bpf", "direct-action", "bytecode", three_of_ten]);
        self.tc(&["qdisc", "replace", "dev", &self.wire, "clsact"]) && filter("egress") && filter("ingress")
            || self.tc(&["qdisc", "replace", "dev", &self.wire, "root", "netem", "loss", "30%"])
    }

    /// Packets come late, some more than others. False where this kernel cannot do that.
    pub(crate) fn delay(&self) -> bool {
        let root = ["qdisc", "replace", "dev", &self.wire, "root"];
        let late = ["netem", "delay", "120ms", "80ms"];
        // Where there is no such thing a thin wire makes them queue.
        let thin = ["tbf", "rate", "48kbit", "burst", "1600", "latency", "3s"];
        self.tc(&[&root[..], &late].concat()) || self.tc(&[&root[..], &thin].concat())
    }

    fn tc(&self, args: &[&str]) -> bool {
        Command::new("tc").args(args).output().is_ok_and(|done| done.status.success())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The wire goes with one of its ends.
        drop(Command::new("ip").args(["link", "delete", &self.wire]).output());
        drop(Command::new("ip").args(["netns", "delete", &self.namespace]).output());
    }
}

/// Carries every connection on to the server.
fn hand_on(listener: &TcpListener, port: u16) {
    for client in listener.incoming().map_while(Result::ok) {
        let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
        let (Ok(to), Ok(from)) = (server.try_clone(), client.try_clone()) else { continue };
        std::thread::spawn(move || carry(from, to));
        std::thread::spawn(move || carry(server, client));
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Write));
}
