//! One program that plays several, by the name that it is called by. Built alone by `tests/windows/run`.

use std::io::Write as _;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

fn main() {
    let called = std::env::current_exe().expect("a path");
    let name = called.file_stem().expect("a name").to_string_lossy().to_lowercase();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let code = match name.as_str() {
        "sops" => sops(&args),
        "args" => told(&args),
        "exits" => args[0].parse::<u32>().expect("a status").cast_signed(),
        "stays" => stays(Path::new(&args[0])),
        "leaves" => leaves(&args[0]),
        "drops" => leaves(&args[0]).max(1),
        "starts" => starts(&args[0]),
        "crashes" => crashes(),
        "agent" => agent(&args),
        "ssh" => ssh(&args),
        "counts" => counts(Path::new(&args[0])),
        _ => 64,
    };
    std::process::exit(code);
}

/// `sops set FILE ["KEY"] "value"` as sops does it: it reads the file, truncates it, and writes it anew. `decrypt -i` leaves
/// plaintext, `encrypt -i` what it was made from, and `rotate -i` is killed when it has truncated the file; the rest succeeds.
fn sops(args: &[String]) -> i32 {
    const ENCRYPTED: &str = include_str!("encrypted.env");
    if let [verb, .., file] = args
        && args.iter().any(|arg| arg == "-i")
    {
        let (text, status) = match verb.as_str() {
            "decrypt" => ("FIRST=1\n", 0),
            "encrypt" => (ENCRYPTED, 0),
            _ => ("", 1),
        };
        std::fs::write(file, text).expect("written");
        return status;
    }
    if args.first().is_none_or(|verb| verb != "set") {
        return 0;
    }
    let key = args[2].trim_matches(|c| "[]\"".contains(c)).to_owned();
    let text = std::fs::read_to_string(&args[1]).expect("the file").replace("\r\n", "\n");
    let equals = if args[1].ends_with(".yaml") { ": " } else { "=" };
    let mut file = std::fs::File::create(&args[1]).expect("truncated");
    // Whoever reads now finds nothing, and whoever has read before takes away what we write.
    std::thread::sleep(Duration::from_millis(20));
    write!(file, "{key}{equals}ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]\n{text}").expect("written");
    0
}

/// Writes down how it was called, one argument in a line.
fn told(args: &[String]) -> i32 {
    let place = std::env::var_os("LOCKED_TEST_TOLD").expect("a place");
    let quoted: Vec<String> = args.iter().map(|arg| format!("{arg:?}\n")).collect();
    std::fs::write(place, quoted.concat()).expect("written");
    0
}

/// Has the file for itself until it is ended, ten minutes at most.
fn stays(file: &Path) -> i32 {
    let opened = std::fs::OpenOptions::new().write(true).create(true).truncate(true).share_mode(0).open(file);
    let _alone = opened.expect("alone");
    std::fs::write(file.with_extension("there"), "").expect("told");
    std::thread::sleep(Duration::from_secs(600));
    0
}

/// Starts one that stays and ends well.
#[expect(clippy::zombie_processes, reason = "it is left behind on purpose")]
fn leaves(file: &str) -> i32 {
    let stays = std::env::current_exe().expect("a path").with_file_name("stays.exe");
    let null = std::process::Stdio::null;
    std::process::Command::new(stays).arg(file).stdin(null()).stdout(null()).stderr(null()).spawn().expect("started");
    until(&Path::new(file).with_extension("there"));
    0
}

/// Starts one that stays and waits for it.
fn starts(file: &str) -> i32 {
    let stays = std::env::current_exe().expect("a path").with_file_name("stays.exe");
    std::process::Command::new(stays).arg(file).status().expect("ran").code().unwrap_or(1)
}

static KEYS: AtomicI32 = AtomicI32::new(0);

unsafe extern "system" {
    fn SetConsoleCtrlHandler(handler: extern "system" fn(u32) -> i32, add: i32) -> i32;
    fn SetErrorMode(mode: u32) -> u32;
}

extern "system" fn key(_which: u32) -> i32 {
    KEYS.fetch_add(1, Ordering::SeqCst);
    1
}

/// Ends with 40 and as many more as there were keys (Ctrl-C), once there was one.
fn counts(file: &Path) -> i32 {
    // SAFETY: the handler is a function of that type, and there for as long as the process.
    unsafe { SetConsoleCtrlHandler(key, 1) };
    std::fs::write(file.with_extension("there"), "").expect("told");
    let began = std::time::Instant::now();
    while KEYS.load(Ordering::SeqCst) == 0 && began.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(5));
    }
    // One that came twice has come by now.
    std::thread::sleep(Duration::from_millis(200));
    40 + KEYS.load(Ordering::SeqCst)
}

/// Ends as a program does that writes where it may not, without a debugger that is started to look at it.
fn crashes() -> i32 {
    const SEM_NOGPFAULTERRORBOX: u32 = 2;
    // SAFETY: the call takes no pointer. The write is what this is for: the system ends the process.
    unsafe {
        SetErrorMode(SEM_NOGPFAULTERRORBOX);
        std::ptr::null_mut::<i32>().write_volatile(1);
    }
    0
}

/// An agent: runs a command to its end, writes down what that said once nobody can say more, and stays.
fn agent(args: &[String]) -> i32 {
    let [file, program, rest @ ..] = args else { return 64 };
    let output = std::process::Command::new(program).args(rest).output().expect("ran");
    let said = [output.stdout, output.stderr].concat();
    std::fs::write(Path::new(file).with_extension("said"), said).expect("written");
    stays(Path::new(file))
}

/// `ssh … -W HOST:PORT … HOST`: carries its input and output to that port of this machine; to port 1 nobody gets.
fn ssh(args: &[String]) -> i32 {
    let at = args.iter().position(|arg| arg == "-W").expect("-W") + 1;
    let port: u16 = args[at].rsplit_once(':').expect("a port").1.parse().expect("a port");
    if port == 1 {
        eprintln!("ops@bastion: Permission denied (publickey).");
        return 255;
    }
    let mut server = std::net::TcpStream::connect(("127.0.0.1", port)).expect("connected");
    let mut to = server.try_clone().expect("cloned");
    std::thread::spawn(move || std::io::copy(&mut std::io::stdin(), &mut to));
    let mut out = std::io::stdout();
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = std::io::Read::read(&mut server, &mut buffer) {
        out.write_all(&buffer[..count]).and_then(|()| out.flush()).expect("said");
    }
    0
}

fn until(file: &Path) {
    let began = std::time::Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < Duration::from_secs(300), "it is there");
        std::thread::sleep(Duration::from_millis(5));
    }
}
