//! Whether a server is of the kind that the string asks for.
#![forbid(unsafe_code)]

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::{Client, Connection, SimpleQueryMessage};

use super::super::address::Target;

/// What `target_session_attrs` looks at.
#[derive(Debug, Clone, Copy)]
struct Nature {
    standby: bool,
    read_only: bool,
}

/// What a server is that will not do; none for one that will. `strict` is false in the second round of `prefer-standby`, which takes any. Servers from
/// 14 on have said what they are in their greeting; older ones and poolers are asked.
pub(in crate::store::postgres) async fn unsuited<S, T>(
    target: Target,
    strict: bool,
    client: &Client,
    connection: &mut Connection<S, T>,
) -> Result<Option<&'static str>, tokio_postgres::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    if target == Target::Any || !strict {
        return Ok(None);
    }
    let nature = match greeting(connection) {
        Some(nature) => nature,
        None => ask(client, connection).await?,
    };
    let suits = match target {
        Target::Any => true,
        Target::ReadWrite => !nature.read_only,
        Target::ReadOnly => nature.read_only,
        Target::Primary => !nature.standby,
        Target::Standby | Target::PreferStandby => nature.standby,
    };
    Ok((!suits).then_some(match (nature.standby, nature.read_only) {
        (true, _) => "a standby",
        (false, true) => "read-only",
        (false, false) => "a primary",
    }))
}

fn greeting<S, T>(connection: &Connection<S, T>) -> Option<Nature>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let standby = connection.parameter("in_hot_standby")? == "on";
    let read_only = connection.parameter("default_transaction_read_only")? == "on";
    Some(Nature { standby, read_only: standby || read_only })
}

async fn ask<S, T>(client: &Client, connection: &mut Connection<S, T>) -> Result<Nature, tokio_postgres::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let question = "select pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('transaction_read_only')";
    let answer = along(connection, client.simple_query(question)).await?;
    let row = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => {
            // Whoever stands there may answer with fewer columns.
            let says = |at: usize, word: &str| row.try_get(at).ok().flatten() == Some(word);
            Some((says(0, "t"), says(1, "on")))
        }
        _ => None,
    });
    let (standby, read_only) = row.unwrap_or_default();
    Ok(Nature { standby, read_only })
}

/// Drives the connection for as long as the question takes, so that it can still be handed on afterwards.
async fn along<F, S, T>(connection: &mut Connection<S, T>, question: F) -> F::Output
where
    F: Future,
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let mut question = pin!(question);
    poll_fn(|context| {
        if let Poll::Ready(answer) = question.as_mut().poll(context) {
            return Poll::Ready(answer);
        }
        // Its end, good or bad, reaches the question too.
        let _ended = Pin::new(&mut *connection).poll(context).is_ready();
        question.as_mut().poll(context)
    })
    .await
}
