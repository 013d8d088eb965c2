use std::ffi::{OsStr, OsString};

use super::name::Named;
use super::*;

fn shown(program: &str, line: &str) -> String {
    let program: Program = toml::from_str(program).expect("a grammar");
    let args: Vec<OsString> = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
    let line = read(Some(&program), &args);
    let name = |name: &Named<'_>| match name {
        Named::Known(names) => (*names).to_owned(),
        Named::Typed(typed) => String::from_utf8_lossy(typed).into_owned(),
    };
    let options = line.options.iter().map(|(named, value)| match value {
        Some(value) => format!("{}={}", name(named), value.display()),
        None => name(named),
    });
    let operands: Vec<_> = line.operands.iter().map(|word| word.display().to_string()).collect();
    format!("{}[{}]({})", line.path, options.collect::<Vec<_>>().join(" "), operands.join(" "))
}

#[test]
fn lines_are_read_by_their_grammar() {
    let docker = r#"
        name = "docker"
        values = ["-H|--host", "--context"]
        group = true
        command = [
          { path = "compose", group = true, values = ["-p|--project-name", "-f|--file"] },
          { path = ["compose up", "compose start"], values = ["--scale", "-t"] },
          { path = "run", stop_at = 1 },
        ]"#;
    let ssh = r#"name = "ssh"
        values = ["-p", "-o", "-i"]
        stop_at = 2"#;
    let sed = r#"name = "sed"
        values = ["-e|--expression"]
        attached = ["-i"]"#;
    let go = r#"name = "go"
        values = ["-out"]
        single_dash = true"#;
    let perl = r#"name = "perl"
        values = ["-e"]
        digits = ["-0", "-l"]
        attached = ["-i"]"#;
    let table = [
        (perl, "-0777pi.bak -e x f", "[-0 -p -i=.bak -e=x](f)"),
        (perl, "-0xFFpe x f", "[-0 -p -e=x](f)"),
        (perl, "-lpi -l012ne x f", "[-l -p -i -l -n -e=x](f)"),
        (docker, "compose up -d", "compose up[-d]()"),
        (docker, "--context a compose -p b up web", "compose up[--context=a -p|--project-name=b](web)"),
        (
            docker,
            "-Htcp://x compose -fa --file=b up --scale w=2 -dt 5",
            "compose up[-H|--host=tcp://x -f|--file=a -f|--file=b --scale=w=2 -d -t=5]()",
        ),
        (docker, "ps -a", "ps[-a]()"),
        (docker, "compose", "compose[]()"),
        (docker, "compose -- up", "compose up[]()"),
        (docker, "", "[]()"),
        (docker, "restart -t x y", "restart[-t](x y)"),
        (ssh, "root@h -p 22 -o A=b rm -rf x", "[-p=22 -o=A=b](root@h rm -rf x)"),
        (ssh, "-p22 h", "[-p=22](h)"),
        (ssh, "-tt h -- rm -f", "[-t -t](h rm -f)"),
        (sed, "-ni.bak s/a/b/ f", "[-n -i=.bak](s/a/b/ f)"),
        (sed, "-i -e s/a/b/ f", "[-i -e|--expression=s/a/b/](f)"),
        (go, "-out f -v x", "[-out=f -v](x)"),
        (sed, "f -e", "[-e|--expression](f)"),
    ];
    for (program, line, expected) in table {
        assert_eq!(shown(program, line), expected, "{line}");
    }
}

#[test]
fn the_last_of_several_counts_and_false_is_off() {
    let args: Vec<OsString> = ["-p", "a", "-p", "b", "--dry-run=false"].map(OsString::from).to_vec();
    let program = Program { values: vec!["-p|--project".to_owned()], ..Program::default() };
    let line = read(Some(&program), &args);
    assert_eq!(line.value("--project"), Some(OsStr::new("b")));
    assert!(!line.is_on("--dry-run") && line.is_on("-p"));
}
