use super::super::Archive;
use super::super::tests::{Sparse, archive_of};
use super::*;
use proptest::prelude::*;

fn opened(archive: &[u8]) -> Option<Vec<Entry>> {
    let length = archive.len() as u64;
    let tail = &archive[archive.len().saturating_sub(TAIL as usize)..];
    let part = |range: Range<u64>| archive.get(range.start as usize..range.end as usize);
    let range = match end(tail, length)? {
        End::Directory(range) => range,
        End::Zip64(range) => directory_64(part(range)?, length)?,
    };
    entries(part(range)?)
}

fn read(archive: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let length = archive.len() as u64;
    let part = |range: Range<u64>| archive.get(range.start as usize..range.end as usize);
    opened(archive)?
        .into_iter()
        .map(|entry| {
            let header = part(entry.start..entry.start.checked_add(HEADER_LENGTH as u64)?)?;
            let content = part(entry.content(header, length)?)?;
            let is_plain = entry.method == Method::Stored;
            is_plain.then(|| (entry.name, content.to_vec()))
        })
        .collect()
}

#[test]
fn files_that_are_not_archives_are_rejected() {
    assert_eq!(read(b""), None);
    assert_eq!(read(b"{\"tasks\": []}"), None);
    let whole = archive_of(&[("a.txt".into(), b"hello".to_vec())]);
    assert!(read(&whole).is_some());
    // An aborted download is truncated.
    for end in 0..whole.len() {
        assert_eq!(read(&whole[..end]), None, "{end}");
    }
}

/// Archives above 4 GB or with more than 65,535 files can be read, too.
#[test]
fn zip64_survives_a_round_trip() {
    let mut archive = Archive::default();
    let mut sparse = Sparse::default();
    let big = 5_u64 << 30;
    sparse.write(&archive.add("big.mp4", big, 7, None).unwrap());
    sparse.skip(big);
    for n in 0..66_000 {
        sparse.write(&archive.add(&n.to_string(), 0, 0, None).unwrap());
    }
    let start = sparse.length;
    sparse.write(&archive.add("last.txt", 5, 9, None).unwrap());
    sparse.write(b"hello");
    sparse.write(&archive.finish());
    let length = sparse.length;
    let tail = sparse.part(length - TAIL..length).unwrap();
    let Some(End::Zip64(range)) = end(&tail, length) else {
        panic!("no end of ZIP64");
    };
    let range = directory_64(&sparse.part(range).unwrap(), length).unwrap();
    let entries = entries(&sparse.part(range).unwrap()).unwrap();
    assert_eq!(entries.len(), 66_002);
    assert_eq!((entries[0].size, entries[0].packed), (big, big));
    let last = &entries[66_001];
    assert_eq!((last.start, last.size, last.sum), (start, 5, 9));
    let header = sparse
        .part(last.start..last.start + HEADER_LENGTH as u64)
        .unwrap();
    let content = last.content(&header, length).unwrap();
    assert_eq!(sparse.part(content).unwrap(), b"hello");
}

#[test]
fn unsupported_methods_are_rejected_with_a_message() {
    assert_eq!(Method::Deflate.check(), Ok(()));
    assert!(Method::Encrypted.check().unwrap_err().contains("encrypted"));
    assert!(Method::Other(14).check().unwrap_err().contains("method 14"));
    let mut encrypted = archive_of(&[("a".into(), vec![1; 50])]);
    let at = encrypted.len() - END_LENGTH - ENTRY_LENGTH - 1;
    encrypted[at + 8] |= 1;
    assert_eq!(opened(&encrypted).unwrap()[0].method, Method::Encrypted);
}

proptest! {
    #[test]
    fn compressed_files_are_read(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6)) {
        let files: Vec<(String, Vec<u8>)> = contents
            .into_iter()
            .enumerate()
            .map(|(n, content)| (format!("château/{n}.png"), content))
            .collect();
        prop_assert_eq!(read(&archive_of(&files)), Some(files));
    }

    #[test]
    fn damaged_archives_are_handled(at in 0_usize..200, byte: u8) {
        let mut archive = archive_of(&[("a".into(), vec![1; 50]), ("b".into(), vec![2; 9])]);
        let at = at % archive.len();
        archive[at] = byte;
        let _ = read(&archive);
    }
}
