//! Links the program so that it starts fast: it is started in front of every command of a shim.
//!
//! Of what a shim adds, 0.2 ms of 1.4 went to the loader, which wrote 17,000 addresses into 70 pages of constants before
//! `main` began (measured on Linux 6.18, glibc 2.36, x86-64). sops, docker's client and gh, as Go links them, are laid out
//! in the same way. What it gives up is that code stands at a random address; heap, stack and libraries still do.
//! Another 0.1 ms went to the loading of the compiler's unwinder, a library of which we need nine functions.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    // A static program, as musl's, has its start code chosen by the compiler and not by the linker's options.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        if std::env::var("HOST") == std::env::var("TARGET") && has("libgcc_eh.a") {
            let shadow = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
            // What std asks for by this name is the linker's to find, and it looks here first.
            std::fs::write(shadow.join("libgcc_s.so"), "INPUT(-lgcc_eh -lgcc)\n")
                .expect("cargo's folder can be written");
            println!("cargo::rustc-link-arg-bins=-L{}", shadow.display());
        }
    }
}

/// Whether the linker's own folders have this library; some systems ship the shared one alone.
fn has(library: &str) -> bool {
    let asked = std::process::Command::new("cc").arg(format!("-print-file-name={library}")).output();
    asked.is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_absolute())
}
