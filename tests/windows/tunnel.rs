//! A store behind another machine: the ssh client's pipes carry the connection.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use super::stage::Stage;

/// Settings with a store at this port of a machine that only ssh reaches.
fn through_ssh(port: u16) -> Stage {
    let stage = Stage::new().with("ssh").with("exits");
    let directory = stage.at("home/roaming/locked");
    std::fs::create_dir_all(&directory).expect("directory");
    let url = format!("postgres://ops@db.internal:{port}/leases?sslmode=disable");
    let text = format!("store = {{ url = {url:?}, via = \"ssh://ops@bastion\" }}\n");
    std::fs::write(directory.join("config.toml"), text).expect("settings");
    stage
}

fn refused(stage: &Stage) -> String {
    let mut command = stage.locked(&["-r", "server:db-1", "exits", "0"]);
    let output = command.env("APPDATA", stage.at("home/roaming")).output().expect("locked runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(69), "{said}");
    said
}

#[test]
fn what_a_server_behind_another_machine_says_comes_through_ssh() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("address").port();
    // It hears who wants in, and says no (protocol-error-fields of PostgreSQL's documentation).
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("a client");
        let mut length = [0; 4];
        client.read_exact(&mut length).expect("a length");
        let mut asked = vec![0; u32::from_be_bytes(length) as usize - 4];
        client.read_exact(&mut asked).expect("a start");
        let fields = b"SFATAL\0VFATAL\0C3D000\0Mthere are no leases here\0\0";
        let size = u32::try_from(fields.len() + 4).expect("a size");
        client.write_all(&[b"E".as_slice(), &size.to_be_bytes(), fields].concat()).expect("said");
        String::from_utf8_lossy(&asked).into_owned()
    });
    let said = refused(&through_ssh(port));
    let asked = server.join().expect("served");
    assert!(asked.contains("ops") && asked.contains("leases"), "{asked:?}");
    assert!(said.contains("there are no leases here"), "{said}");
}

#[test]
fn what_ssh_says_of_its_own_end_is_told() {
    let said = refused(&through_ssh(1));
    assert!(said.contains("Permission denied (publickey)"), "{said}");
}
