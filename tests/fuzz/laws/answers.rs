//! The laws of what a server answers. Whatever comes over the wire, every verb of the store comes to an answer or an error, and
//! nothing of what came is in the error; what people see of it has gone through the door, and is capped.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use locked::store::{
    Acquisition, Board as _, Claim, Connected, Connecting, Connector, Contents, Ended, Ending, HistoryFilter, Holding,
    LeaseView, NotConnected, Owner, PastLease, PostgresStore, Prune, Request, Revocation, Schema, Settlement, Store,
    StoreError, StoredReceipt, Theft, Upkeep as _,
};
use locked::terms::{
    FencingToken, GrantId, LeaseKey, Resource, ResourceName, Scope, SessionId, Times, shows, shows_as_itself,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{Config, NoTls};

use super::input::Input;

/// What is in no error, wherever it stood in what came.
pub(crate) const SECRET: &str = "hunter2-answer";
/// How long a whole answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Verbs that ask more than one question.
const SEVERAL: [&str; 3] = ["faults", "condition", "prune"];
/// What people see of one text.
const LONGEST: usize = 200;
/// What they see of one with several sources.
const LONGEST_OF_MANY: usize = 1_000;

/// The law holds for these bytes: a verb, how it is answered, and the answer.
pub(crate) fn hold(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let verb = VERBS[input.below(VERBS.len())];
    let bare = input.one_in(4);
    let wire = if bare { input.rest().to_vec() } else { in_one_row(input.rest()) };
    // An answer that breaks off is asked for again, until the limit; and so is one of several that is another's.
    let hasty = bare || SEVERAL.contains(&verb.0);
    let answered = ask(verb, wire, if hasty { Duration::from_millis(1) } else { PATIENCE });
    if let Err(error) = answered.as_ref().map_err(|error| format!("{error} {error:?}")) {
        // What a server itself says in an error of its own is repeated.
        assert!(bare || !error.contains(SECRET), "{error}");
    }
}

/// The verb that a sample is about, answered by it.
///
/// # Panics
/// There is no such verb.
pub(crate) fn answered(verb: &str, text: &str) -> Result<(), StoreError> {
    let verb = VERBS.iter().find(|(name, _)| *name == verb).expect("a verb");
    ask(*verb, in_one_row(text.as_bytes()), PATIENCE)
}

/// Every verb, answered by one row with one number.
pub(crate) fn answered_by_a_number() -> impl Iterator<Item = (&'static str, Result<(), StoreError>)> {
    const INT4: i32 = 23;
    let wire = || in_one_row_of(INT4, &7_i32.to_be_bytes());
    // Long for an answer; a verb that begins by another question asks on until then.
    VERBS.into_iter().map(move |verb| (verb.0, ask(verb, wire(), Duration::from_millis(300))))
}

/// The bytes for [`hold`] that ask this verb and answer so.
pub(crate) fn asking(verb: &str, text: &str) -> Vec<u8> {
    let at = VERBS.iter().position(|(name, _)| *name == verb).expect("a verb");
    [&[u8::try_from(at).expect("few verbs"), 0], text.as_bytes()].concat()
}

fn ask((_, ask): (&str, Ask), wire: Vec<u8>, limit: Duration) -> Result<(), StoreError> {
    let mut store = PostgresStore::new(Config::new(), Box::new(Canned(wire)), Schema::default());
    ask(&mut store, limit)
}

type Ask = fn(&mut PostgresStore, Duration) -> Result<(), StoreError>;

const VERBS: [(&str, Ask); 21] = [
    ("acquire", |store, limit| store.acquire(&request(), limit).map(|answer| acquired(&answer))),
    ("renew", |store, limit| store.renew(&holding(), limit).map(drop)),
    ("record", |store, limit| store.record_files(&holding(), &[], &[], limit).map(drop)),
    ("settle", |store, limit| {
        let ending = Settlement::whole(Ending::Release(Ended::Completed), Vec::new());
        store.settle(&holding(), &ending, limit).map(drop)
    }),
    ("revoke", |store, limit| match store.revoke(&[resource()], &theft(), limit)? {
        Revocation::Revoked(victims) => {
            victims.iter().for_each(|victim| seen(&[(&victim.holder, LONGEST)], &[&victim.resource]));
            Ok(())
        }
        _ => Ok(()),
    }),
    ("leave", |store, limit| store.leave_queue(GrantId(uuid::Uuid::nil()), limit)),
    ("standing", |store, limit| store.standing(&[GrantId(uuid::Uuid::nil())], limit).map(drop)),
    ("leases", |store, limit| store.leases(None, limit).map(|rows| rows.iter().for_each(lease))),
    ("history", |store, limit| store.history(&HistoryFilter::default(), limit).map(|rows| rows.iter().for_each(past))),
    ("duties", |store, limit| store.duties(limit).map(|rows| rows.iter().for_each(past))),
    ("receipts", |store, limit| {
        store.receipts(&Scope("s".to_owned()), "p", limit).map(|rows| rows.iter().for_each(receipt))
    }),
    ("chains", |store, limit| {
        store.chains(&Scope("s".to_owned()), &["p"], limit).map(|rows| rows.iter().for_each(receipt))
    }),
    ("receipts of", |store, limit| {
        store.receipts_of(&Scope("s".to_owned()), &Contents::default(), limit).map(|rows| rows.iter().for_each(receipt))
    }),
    ("sessions", |store, limit| {
        for it in store.board().expect("a board").sessions(limit)? {
            let texts = [&it.name, &it.domain, &it.task, &it.label, &it.host];
            seen(&texts.map(|text| (text.as_str(), LONGEST)), &[]);
        }
        Ok(())
    }),
    ("hear", |store, limit| {
        for word in store.board().expect("a board").hear(session(), limit)? {
            seen(&[(&word.holder, LONGEST), (&word.about, LONGEST), (&word.text, LONGEST_OF_MANY)], &[]);
        }
        Ok(())
    }),
    ("waiting", |store, limit| {
        for wait in store.board().expect("a board").waiting(limit)? {
            seen(&[(&wait.holder, LONGEST)], &wait.resources.iter().collect::<Vec<_>>());
        }
        Ok(())
    }),
    ("figures", |store, limit| store.figures(limit).map(drop)),
    ("about", |store, limit| {
        let moved = store.about(limit)?.moved;
        seen(&[(moved.as_ref().map_or("", |(place, _)| place), LONGEST)], &[]);
        Ok(())
    }),
    ("faults", |store, limit| store.faults(limit).map(drop)),
    ("condition", |store, limit| store.condition(limit).map(drop)),
    ("prune", |store, limit| {
        store.prune(&Prune { older_than: Duration::from_secs(9), keep: 1, dry_run: true }, limit).map(drop)
    }),
];

fn acquired(answer: &Acquisition) {
    match answer {
        Acquisition::Granted(granted) => {
            for (resource, _) in &granted.tokens {
                seen(&[], &[resource]);
            }
            for owed in granted.unsettled.iter().chain(&granted.carried) {
                let texts = [&owed.holder, &owed.operation, &owed.host];
                seen(&texts.map(|text| (text.as_str(), LONGEST)), &[&owed.resource]);
            }
            for word in &granted.words {
                seen(&[(&word.holder, LONGEST), (&word.about, LONGEST), (&word.text, LONGEST_OF_MANY)], &[]);
            }
        }
        Acquisition::Busy { blockers, ahead, .. } => {
            blockers.iter().for_each(|blocker| lease(&blocker.lease));
            ahead.iter().for_each(|waiter| seen(&[(&waiter.holder, LONGEST)], &[]));
        }
    }
}

fn lease(it: &LeaseView) {
    let reason = it.reason.as_deref().unwrap_or_default();
    let texts = [(&*it.label, LONGEST), (&*it.host, LONGEST), (&*it.operation, LONGEST), (reason, LONGEST_OF_MANY)];
    seen(&texts, &[&it.resource]);
}

fn past(it: &PastLease) {
    let note = it.note.as_deref().unwrap_or_default();
    let texts = [(&*it.label, LONGEST), (&*it.host, LONGEST), (&*it.operation, LONGEST), (note, LONGEST_OF_MANY)];
    seen(&texts, &[&it.resource]);
}

fn receipt(it: &StoredReceipt) {
    seen(&[(&it.holder, LONGEST), (&it.host, LONGEST), (&it.kind, LONGEST)], &[]);
}

/// What of it people see.
fn seen(texts: &[(&str, usize)], resources: &[&Resource]) {
    for (text, longest) in texts {
        assert!(text.chars().all(shows), "{text:?} did not go through the door");
        assert!(text.chars().count() <= *longest, "a text of {} characters", text.chars().count());
    }
    for Resource { name, .. } in resources {
        assert!(name.as_str().chars().all(shows_as_itself) && name.as_str().len() <= ResourceName::MAX, "{name:?}");
        assert_eq!(ResourceName::parse(name.as_str().as_bytes()).as_ref(), Ok(name), "a name is itself");
    }
}

fn resource() -> Resource {
    Resource { name: ResourceName::of("sops", b"a"), scope: Scope("example.org/acme/infra".to_owned()) }
}

fn session() -> SessionId {
    SessionId(uuid::Uuid::nil())
}

fn key() -> LeaseKey {
    LeaseKey::random().expect("randomness")
}

fn request() -> Request {
    let text = |text: &str| text.to_owned();
    let owner = Owner {
        session: session(),
        label: text("a"),
        host: text("h"),
        host_id: text("b"),
        pid: 1,
        operation: text("o"),
        rule: None,
    };
    let times = Times::new(None, None, None, None).expect("ready times");
    Request::without_a_command(key(), owner, Claim::Explicit, vec![resource()], &times, None)
}

fn holding() -> Holding {
    let resources = vec![(resource(), FencingToken(7))];
    Holding::Grant { grant: GrantId(uuid::Uuid::nil()), key: key(), resources }
}

fn theft() -> Theft {
    let (label, reason) = ("a".to_owned(), "r".to_owned());
    Theft { session: session(), label, reason, approved_by: None, at_once: false, shown: None }
}

/// A server that answers every question by the same bytes.
struct Canned(Vec<u8>);

impl Connector for Canned {
    fn connect<'a>(&'a self, config: &'a Config, _limit: Duration) -> Connecting<'a> {
        let mut config = config.clone();
        config.user("u");
        let (answers, reader) = (vec![self.0.clone(), welcome()], None);
        let stream = Stream { answers, ready: Vec::new(), reader };
        Box::pin(async move {
            let (client, connection) = config.connect_raw(stream, NoTls).await.map_err(NotConnected::Plain)?;
            Ok(Connected::of(client, connection))
        })
    }
}

/// Answers each question once, and hangs up after the last.
struct Stream {
    answers: Vec<Vec<u8>>,
    ready: Vec<u8>,
    reader: Option<Waker>,
}

/// The login is as it should be, so that what follows it is looked at.
fn welcome() -> Vec<u8> {
    [message(b'R', &0_i32.to_be_bytes()), message(b'Z', b"I")].concat()
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let answer = self.answers.pop();
        self.ready.extend(answer.into_iter().flatten());
        self.reader.take().into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ready.is_empty() && !self.answers.is_empty() {
            self.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        let length = self.ready.len().min(into.remaining());
        into.put_slice(&self.ready[..length]);
        self.ready.drain(..length);
        Poll::Ready(Ok(()))
    }
}

/// A message of the protocol. Source: the PostgreSQL manual, "Message Formats".
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len() + 4).expect("a short message");
    [&[kind][..], &length.to_be_bytes(), body].concat()
}

/// One row of one column of type text, as our functions answer.
fn in_one_row(text: &[u8]) -> Vec<u8> {
    const TEXT: i32 = 25;
    in_one_row_of(TEXT, text)
}

fn in_one_row_of(kind: i32, text: &[u8]) -> Vec<u8> {
    let field = [&b"f\0"[..], &[0; 6], &kind.to_be_bytes(), &(-1_i16).to_be_bytes(), &[0xff; 4], &[0, 0]].concat();
    let length = i32::try_from(text.len()).expect("a short text");
    [
        message(b'1', b""),
        message(b'2', b""),
        message(b'T', &[&1_i16.to_be_bytes()[..], &field].concat()),
        message(b'D', &[&1_i16.to_be_bytes()[..], &length.to_be_bytes(), text].concat()),
        message(b'C', b"SELECT 1\0"),
        message(b'Z', b"I"),
    ]
    .concat()
}
