//! Manifests and kustomizations as people write them.
#![forbid(unsafe_code)]

use super::*;

fn of(text: &str) -> Secrets {
    let mut found = Secrets::default();
    found.texts(Some(text.as_bytes()));
    found.read = 0;
    found
}

#[test]
fn secrets_are_found_by_their_names_wherever_they_stand() {
    for (text, names, unnamed) in [
        ("kind: Secret\nmetadata:\n  name: app\n", &["app"][..], false),
        ("metadata: {name: app}\ntype: Opaque\nkind: Secret\nstringData: {name: Secret}\n", &["app"], false),
        ("kind: ConfigMap\nmetadata:\n  name: a\n---\nkind: Secret\nmetadata:\n  name: b\n", &["b"], false),
        ("metadata: {name: a}\nkind: Secret\n---\nkind: Deployment\nmetadata: {name: b}\n", &["a"], false),
        (
            "kind: List\nitems:\n- {kind: Secret, metadata: {name: a}}\n- kind: Secret\n  metadata: {name: b}\n",
            &["a", "b"],
            false,
        ),
        ("{\"kind\": \"Secret\", \"metadata\": {\"labels\": {\"name\": \"x\"}, \"name\": \"app\"}}", &["app"], false),
        ("kind: Secret\nmetadata: {generateName: app-}\n", &[], true),
        ("kind: Secret\nmetadata: {name: 'ENC[AES256_GCM,x]'}\n", &[], true),
        ("kind: Deployment\nmetadata: {name: a}\nspec: {volumes: [{secret: {secretName: Secret}}]}\n", &[], false),
        ("kind: SealedSecret\nmetadata: {name: a}\n", &[], false),
        ("? [kind]\n: x\nkind: Secret\nmetadata: {name: a}\n", &["a"], false),
    ] {
        let expected =
            Secrets { names: names.iter().map(ToString::to_string).collect(), unnamed, ..Secrets::default() };
        assert_eq!(of(text), expected, "{text}");
    }
    for broken in ["Secret: [", "Secret: \u{0}", &format!("Secret: {}", "[".repeat(1000))] {
        assert!(of(broken).unseen, "{broken}");
    }
}

#[test]
fn a_kustomization_says_what_it_makes_and_takes_in() {
    let text = "namePrefix: prod-\nresources: [a.yaml, ../base]\nsecretGenerator:\n- name: app\n  literals: [a=b]\n- {name: db}\n\
                configMapGenerator:\n- name: conf\nbases:\n- old\n";
    let custom = Custom::read(text.as_bytes());
    assert_eq!(
        (custom.generated, custom.taken),
        (vec!["app".into(), "db".into()], vec!["a.yaml".into(), "../base".into(), "old".into()])
    );
    assert_eq!((custom.prefix.as_str(), custom.suffix.as_str()), ("prod-", ""));
}
