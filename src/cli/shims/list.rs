//! `locked shims list`.
#![forbid(unsafe_code)]

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::out::print;
use crate::cli::table::table;
use crate::cli::verbs::ListShimsVerb;
use crate::exit::Exit;
use crate::run::{Context, env_of};
use crate::shims::{self, Entry, Shim};

use super::{failed, folder, is_on_path, lossy, quoted, shown, standing};

pub(super) fn list(context: &Context, verb: &ListShimsVerb) -> Result<Exit, Exit> {
    let folder = folder(context, &verb.place)?;
    folder.serves().map_err(|error| failed(&error))?;
    let shims = shims::all(&folder, context.ourselves).map_err(|error| failed(&error))?;
    if verb.json {
        let rows: Vec<Value> = shims.iter().map(|shim| object(context, shim)).collect();
        return Ok(print(&format!("{:#}", Value::Array(rows))));
    }
    if shims.is_empty() {
        return Ok(print(&format!("no shims in {}", quoted(folder.path()))));
    }
    let mut rows = vec![["TOOL", "STANDS", "PROGRAM"].map(str::to_owned).to_vec()];
    // Where the folder is not on PATH, what is found by a tool's name is another one's.
    let on_path = is_on_path(context, &folder);
    for shim in &shims {
        let (standing, program) = standing(context, &shim.tool);
        let stands = match (&shim.entry, shown(&standing)) {
            (Entry::Broken, _) => "broken".to_owned(),
            (_, (_, Some(before))) if on_path => format!("behind {}", quoted(before)),
            _ if !on_path => "not on PATH".to_owned(),
            (_, ("absent", _)) => "not on PATH".to_owned(),
            (_, (stands, _)) => stands.to_owned(),
        };
        rows.push(vec![
            shim.tool.to_string(),
            stands,
            program.map_or_else(|| "-".to_owned(), |program| quoted(&program)),
        ]);
        if shim.entry == Entry::Broken {
            let target = shim.target.as_deref().map(quoted).unwrap_or_default();
            let line = shims::install_line(folder.path(), [&shim.tool], &env_of(context));
            rows.push(vec![format!("  it leads to {target}, where locked is no longer: {line}")]);
        }
    }
    Ok(print(&table(&rows)))
}

fn object(context: &Context, shim: &Shim) -> Value {
    let (standing, program) = standing(context, &shim.tool);
    let (stands, before) = shown(&standing);
    json!({
        "tool": lossy(&shim.tool),
        "path": shim.path.to_string_lossy(),
        "leads_to": shim.target.as_ref().map(|target| target.to_string_lossy()),
        "broken": shim.entry == Entry::Broken,
        "stands": stands,
        "before": before.map(Path::to_string_lossy),
        "program": program.as_ref().map(|program| program.to_string_lossy()),
    })
}
