//! The child of a campaign: writes a checked file for each resource, slowly, and refuses to be there with another one.
#![forbid(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use locked::clock::{Clock as _, SystemClock};

/// The log of the campaign.
pub(crate) const LOG: &str = "CAMPAIGN_LOG";
/// Who it works for.
pub(crate) const WHO: &str = "CAMPAIGN_WHO";
/// Where the checked files are.
pub(crate) const FILES: &str = "CAMPAIGN_FILES";
/// So many milliseconds it needs for its write.
pub(crate) const FOR: &str = "CAMPAIGN_FOR";

/// The words that make `locked` run it; see `actor::program` for why there is a shell before it.
pub(crate) fn program() -> Vec<String> {
    let binary = std::env::current_exe().expect("this binary").to_str().expect("UTF-8").to_owned();
    let shell = ["sh", "-c", "exec \"$@\"", "sh"].map(str::to_owned);
    let part = ["faults::campaign::writer::writes_its_part", "--exact", "--nocapture", "--test-threads=1", "-q"];
    shell.into_iter().chain([binary]).chain(part.map(str::to_owned)).collect()
}

/// A line of the log by one write.
pub(crate) fn say(log: &mut File, word: &str, who: &str, resource: &str, token: &str, detail: &str) {
    let line = format!("{} {word} {who} {resource} {token} {detail}\n", SystemClock::new().now().0.as_nanos());
    log.write_all(line.as_bytes()).expect("the log takes it");
}

/// Not a test by itself: without a log there is nothing to do.
#[test]
fn writes_its_part() {
    let Some(log) = std::env::var_os(LOG) else { return };
    let var = |name: &str| std::env::var(name).unwrap_or_else(|_| "-".to_owned());
    let mut log = OpenOptions::new().append(true).open(log).expect("the log");
    let (who, resources, tokens) = (var(WHO), var("LOCKED_RESOURCES"), var("LOCKED_TOKENS"));
    let pairs: Vec<(&str, &str)> = resources.split(' ').zip(tokens.split(' ')).collect();
    let mut files: Vec<File> = Vec::new();
    for (resource, token) in &pairs {
        let path = Path::new(&var(FILES)).join(resource.replace(':', "-"));
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).expect("the file");
        if file.try_lock().is_err() {
            say(&mut log, "clash", &who, resource, token, "-");
            panic!("another one is at {resource}");
        }
        say(&mut log, "begin", &who, resource, token, &read(&mut file));
        files.push(file);
    }
    let half = Duration::from_millis(var(FOR).parse::<u64>().expect("ms") / 2);
    let beats = |log: &mut File| beat(log, half, &who, &pairs);
    // Half of it, and later the other half: whoever is killed in between leaves a torn file.
    for (file, (_, token)) in files.iter_mut().zip(&pairs) {
        file.rewind().and_then(|()| file.set_len(0)).and_then(|()| file.write_all(token.as_bytes())).expect("room");
    }
    beats(&mut log);
    for (file, (_, token)) in files.iter_mut().zip(&pairs) {
        file.write_all(format!(" {token}.\n").as_bytes()).expect("room");
    }
    pairs.iter().for_each(|(resource, token)| say(&mut log, "wrote", &who, resource, token, token));
    beats(&mut log);
    pairs.iter().for_each(|(resource, token)| say(&mut log, "end", &who, resource, token, "-"));
}

fn beat(log: &mut File, span: Duration, who: &str, pairs: &[(&str, &str)]) {
    let began = Instant::now();
    while began.elapsed() < span {
        std::thread::sleep(Duration::from_millis(8));
        pairs.iter().for_each(|(resource, token)| say(log, "beat", who, resource, token, "-"));
    }
}

/// The token of who wrote it last, `torn` if it did not get to its end, `new` if nobody wrote.
fn read(file: &mut File) -> String {
    let mut text = String::new();
    file.read_to_string(&mut text).expect("text");
    match text.strip_suffix(".\n").and_then(|text| text.split_once(' ')) {
        Some((one, other)) if one == other => one.to_owned(),
        _ if text.is_empty() => "new".to_owned(),
        _ => "torn".to_owned(),
    }
}
