use super::*;

/// What is wrong with the one table of a text: the key, and what is said.
fn fault(text: &str) -> Option<Fault> {
    Tables::read(text).unwrap_or_else(|error| panic!("{text}: {error}")).fault()
}

#[test]
fn a_rule_that_could_never_hold_anything_is_wrong() {
    let table = [
        ("resource = 'nocolon'", "resource", "kind:name"),
        ("resource = 'A B:c'", "resource", "kind:name"),
        ("resource = ['a:b', 'c:']", "resource", "kind:name"),
        ("resource = 'a:{site}'", "resource", "(?<name>…)"),
        ("resource = 'a:{site}'\nmatch = ['(?<sight>x)']", "resource", "(?<name>…)"),
        ("resource = 'a:{env:1A}'", "resource", "the name of a variable"),
        ("resource = []\notherwise = 'nocolon'", "otherwise", "kind:name"),
        ("resource = []", "resource", "holds nothing"),
        ("resource = 'a:b'\nargs = ['[a']", "args", "[ without its ]"),
        ("resource = 'a:b'\nwrites = ['{a']", "writes", "{ without its }"),
        ("resource = 'a:b'\nremote = ['x', '[']", "remote", "[ without its ]"),
        ("resource = 'a:b'\noption = ['e']", "option", "as it is typed"),
        ("resource = 'a:b'\noption = ['-e|f']", "option", "as it is typed"),
        ("resource = 'a:b'\noption = ['--type=[x']", "option", "[ without its ]"),
        ("resource = 'a:b'\nunless = ['dry-run']", "unless", "as it is typed"),
        ("resource = 'a:b'\nunless = ['-']", "unless", "as it is typed"),
        ("resource = 'a:b'\ngive_back = '1m'\ndetached = ['d']", "detached", "as it is typed"),
        ("resource = 'a:b'\ndetached = ['-d']", "detached", "needs give_back"),
        ("resource = 'a:b'\nprogram = 'bin/x'", "program", "last part of its path"),
        ("resource = 'a:b'\nprogram = ''", "program", "last part of its path"),
        ("resource = 'a:b'\nprogram = []", "program", "last part of its path"),
        ("resource = 'a:b'\nsubcommand = 'a  b'", "subcommand", "one space"),
        ("resource = 'a:b'\nenv = ['1A']", "env", "NAME or NAME=GLOB"),
        ("resource = 'a:b'\nttl = '1ms'", "ttl", "\"1s\" to \"24h\""),
        ("resource = 'a:b'\nttl = '25h'", "ttl", "\"1s\" to \"24h\""),
        (
            "resource = 'a:b'\nprogram = 'sops'\nsubcommand = ['decrypt', 'exec-env']",
            "subcommand",
            "sops reads always pass",
        ),
    ];
    for (rest, key, said) in table {
        let found = fault(&format!("[[rule]]\nname = 'n'\n{rest}\n")).unwrap_or_else(|| panic!("{rest} is accepted"));
        assert!(found.key == key && found.what.contains(said), "{rest}: {found:?}");
    }
    for name in ["", " ", "\\u001b[31mx", "a\\u202eb", "a%b", "a\\nb"] {
        let found = fault(&format!("[[rule]]\nname = \"{name}\"\nresource = 'a:b'\n"));
        assert_eq!(found.map(|fault| fault.key), Some("name"), "{name}");
    }
}

#[test]
fn a_table_that_could_never_say_anything_is_wrong() {
    let table = [
        ("[[program]]\nname = 'p'\nvalues = ['noDash']", "values"),
        ("[[program]]\nname = 'a/p'", "name"),
        ("[[program]]\nname = 'p'\n[[program.command]]\npath = 'x'\nvalues = ['y']", "command"),
        ("[[program]]\nname = 'p'\n[[program.command]]\npath = ''", "command"),
        ("[[launcher]]\nprogram = 'p'\nvalues = ['x']", "values"),
        ("[[launcher]]\nprogram = 'p'\nunless = ['x']", "unless"),
        ("[[writer]]\nprogram = 'p'\nfiles = 'x'", "files"),
        ("[[writer]]\nprogram = 'p'\nfiles = '{foo}'", "files"),
        ("[[writer]]\nprogram = 'p'\nfiles = '{1}'\noption = 'o'", "option"),
        ("[[sql]]\nprogram = 'p'\ntext = '{x}'", "text"),
        ("[[zone]]\nname = 'Z'\npaths = ['[x']", "paths"),
        ("[[zone]]\nname = 'Z'\ncommands = ['{x']", "commands"),
        ("[[zone]]\nname = 'Z'\npaths = ['x']\nttl = '1ms'", "ttl"),
    ];
    for (text, key) in table {
        assert_eq!(fault(text).map(|fault| fault.key), Some(key), "{text}");
    }
}

#[test]
fn what_can_hold_something_is_right_and_so_is_everything_built_in() {
    for rest in [
        "resource = 'container:{1}'",
        "resource = '{env:KIND}:{1|file}'",
        "resource = 'a:{site}'\nmatch = ['(?<site>x)']",
        "resource = 'a:{site}'\ntext = ['(?P<site>x)']",
        "resource = []\nask = true",
        "enabled = false",
        "resource = 'a:b'\noption = ['-e|--edit', '--type=*.env']\nunless = '--dry-run'",
        "resource = 'a:b'\nargs = ['[ab]', '{a,b}']\nenv = ['A', 'B=[xy]*']",
        "resource = 'a:b'\ngive_back = '1m'\ndetached = ['-d']",
        "resource = 'a:b'\nprogram = 'sops'\nsubcommand = ['set', 'decrypt']",
    ] {
        let text = format!("[[rule]]\nname = 'my rule'\n{rest}\n");
        assert_eq!(fault(&text), None, "{rest}");
    }
    assert_eq!(fault(&super::super::Book::built_in()), None);
}
