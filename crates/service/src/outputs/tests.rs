use super::*;

#[test]
fn own_file_finds_only_saved_outputs() {
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

/// Guards against serving hidden files (of unfinished attempts, or being removed) to clients that percent-encode the
/// dot.
#[tokio::test]
async fn only_finished_outputs_are_served_however_the_path_is_encoded() {
    let dir = tempfile::tempdir().unwrap();
    let outputs = Outputs::open(dir.path().join("outputs")).unwrap();
    let made = Artifact {
        extension: "png",
        bytes: vec![1],
    };
    for task in ["ab12", ".ab12", "ab12/.hidden"] {
        outputs.save(task, std::slice::from_ref(&made)).unwrap();
    }
    fs::write(dir.path().join("outputs/notes.png"), "x").unwrap();
    fs::write(dir.path().join("outputs/ab12/.0.png"), "x").unwrap();
    let status = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        outputs.serve(request).await.status().as_u16()
    };
    assert_eq!(status("/outputs/ab12/0.png").await, 200);
    for path in [
        "/outputs/.ab12/0.png",
        "/outputs/%2eab12/0.png",
        "/outputs/%2Eab12/0.png",
        "/outputs/%252eab12/0.png",
        "/outputs/ab12%2f%2e0.png",
        "/outputs/ab12/%2e0.png",
        "/outputs/ab12/%2ehidden/0.png",
        "/outputs/ab12%2f..%2f%2eab12/0.png",
        "/outputs/ab12",
        "/outputs/ab12/",
        "/outputs/notes.png",
        "/outputs//ab12/0.png",
    ] {
        assert_eq!(status(path).await, 404, "{path}");
    }
}

/// Guards against a completed task whose files are overwritten or listed in another order.
#[test]
fn saved_files_keep_their_order_and_are_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let outputs = Outputs::open(dir.path().join("outputs")).unwrap();
    assert_eq!(outputs.saved("ab12").unwrap(), None);
    let made = |byte| Artifact {
        extension: "png",
        bytes: vec![byte],
    };
    let files: Vec<Artifact> = (0..12).map(made).collect();
    let paths = outputs.save("ab12", &files).unwrap();
    assert_eq!(paths[10], "ab12/10.png");
    assert_eq!(outputs.saved("ab12").unwrap(), Some(paths.clone()));
    assert_eq!(outputs.save("ab12", &[made(3)]).unwrap(), paths);
}
