//! The real libpq as the judge, through python3's ctypes.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Asks libpq. Reads one JSON list of questions, writes one list of answers: null for a refusal, else the parameters.
/// `parse` is the string alone; `start` begins to connect with these variables and tells what libpq made of everything.
const JUDGE: &str = r#"
import ctypes, json, os, sys

class Option(ctypes.Structure):
    _fields_ = [("keyword", ctypes.c_char_p), ("envvar", ctypes.c_char_p), ("compiled", ctypes.c_char_p),
                ("val", ctypes.c_char_p), ("label", ctypes.c_char_p), ("dispchar", ctypes.c_char_p),
                ("dispsize", ctypes.c_int)]

pq = ctypes.CDLL("libpq.so.5")
options = ctypes.POINTER(Option)
pq.PQconninfoParse.restype = pq.PQconninfo.restype = options
pq.PQconninfoParse.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
pq.PQconnectStart.restype = ctypes.c_void_p
pq.PQpass.restype = ctypes.c_char_p
for call in (pq.PQconninfo, pq.PQfinish, pq.PQpass):
    call.argtypes = [ctypes.c_void_p]
pq.PQconninfoFree.argtypes = [options]

def told(found):
    if not found:
        return None
    answer, at = {}, 0
    while found[at].keyword:
        if found[at].val is not None:
            answer[found[at].keyword.decode()] = found[at].val.decode("utf-8", "replace")
        at += 1
    pq.PQconninfoFree(found)
    return answer

def answer(question):
    text = question["text"].encode()
    if question["ask"] == "parse":
        return told(pq.PQconninfoParse(text, None))
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]
    os.environ.update(question["variables"])
    connection = pq.PQconnectStart(text)
    given = told(pq.PQconninfo(connection))
    given["(password)"] = (pq.PQpass(connection) or b"").decode()
    pq.PQfinish(connection)
    return given

json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)
"#;

/// Parameters by name; none for a string that libpq refuses.
pub(super) type Answer = Option<BTreeMap<String, String>>;

/// What libpq reads in each of these strings, without any default.
pub(super) fn parsed(texts: &[String]) -> Vec<Answer> {
    ask(texts.iter().map(|text| serde_json::json!({ "ask": "parse", "text": text })).collect())
}

/// What libpq makes of a string with these variables. `(password)` is what it would log in with.
pub(super) fn completed(text: &str, variables: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let question = serde_json::json!({ "ask": "start", "text": text, "variables": variables });
    ask(vec![question]).remove(0).expect("libpq tells")
}

fn ask(questions: Vec<serde_json::Value>) -> Vec<Answer> {
    let mut judge = Command::new("python3")
        .args(["-c", JUDGE])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs; install/test brings it");
    let input = serde_json::to_vec(&questions).expect("JSON");
    judge.stdin.take().expect("stdin").write_all(&input).expect("the judge listens");
    let output = judge.wait_with_output().expect("the judge answers");
    assert!(output.status.success(), "libpq.so.5 answers through python3; install/test brings both");
    serde_json::from_slice(&output.stdout).expect("JSON")
}
