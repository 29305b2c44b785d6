use super::*;

#[test]
fn only_files_of_its_own_making_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let outputs = Outputs::open(dir.path().join("outputs")).unwrap();
    fs::write(dir.path().join("secret.png"), "x").unwrap();
    let made = Artifact {
        extension: "png",
        bytes: vec![1],
    };
    let paths = outputs.save("ab12", &[made.clone(), made]).unwrap();
    assert_eq!(paths, ["ab12/0.png", "ab12/1.png"]);
    assert!(outputs.has("/outputs/ab12/1.png").unwrap());
    for path in [
        "/outputs/ab12/2.png",
        "/outputs/../secret.png",
        "/outputs/ab12/../../secret.png",
        "/outputs/ab12/%2e%2e/secret.png",
        "/outputs/ab12/..",
        "/outputs//etc/passwd",
        "/etc/passwd",
        "outputs/ab12/0.png",
        "/outputs/ab12/0.png?x",
    ] {
        assert_eq!(outputs.own_file(path).unwrap(), None, "{path}");
    }
}
