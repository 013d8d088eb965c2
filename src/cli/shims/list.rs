//! `locked shims list`.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::cli::front::print;
use crate::cli::table::table;
use crate::cli::verbs::ListShimsVerb;
use crate::exit::Exit;
use crate::run::Context;
use crate::shims::{self, Entry, Shim};

use super::{failed, folder, shown, standing};

pub(super) fn list(context: &Context, verb: &ListShimsVerb) -> Result<Exit, Exit> {
    let folder = folder(context, &verb.place)?;
    let shims = shims::all(&folder, context.ourselves).map_err(|error| failed(&error))?;
    if verb.json {
        let rows: Vec<Value> = shims.iter().map(|shim| object(context, shim)).collect();
        return Ok(print(&format!("{:#}", Value::Array(rows))));
    }
    if shims.is_empty() {
        return Ok(print(&format!("no shims in {}", folder.path().display())));
    }
    let mut rows = vec![["TOOL", "STANDS", "PROGRAM"].map(str::to_owned).to_vec()];
    for shim in &shims {
        let (standing, program) = standing(context, &shim.tool);
        let stands = match (&shim.entry, shown(&standing)) {
            (Entry::Broken, _) => "broken".to_owned(),
            (_, (_, Some(before))) => format!("behind {before}"),
            (_, ("absent", _)) => "not on PATH".to_owned(),
            (_, (stands, _)) => stands.to_owned(),
        };
        rows.push(vec![shim.tool.to_string(), stands, program.unwrap_or_else(|| "-".to_owned())]);
        if shim.entry == Entry::Broken {
            let target = shim.target.as_ref().map(|target| target.display().to_string()).unwrap_or_default();
            rows.push(vec![format!(
                "  it leads to {target}, where locked is no longer: locked shims install {}",
                shim.tool
            )]);
        }
    }
    Ok(print(&table(&rows)))
}

fn object(context: &Context, shim: &Shim) -> Value {
    let (standing, program) = standing(context, &shim.tool);
    let (stands, before) = shown(&standing);
    json!({
        "tool": shim.tool.to_string(),
        "path": shim.path.to_string_lossy(),
        "leads_to": shim.target.as_ref().map(|target| target.to_string_lossy()),
        "broken": shim.entry == Entry::Broken,
        "stands": stands,
        "before": before,
        "program": program,
    })
}
