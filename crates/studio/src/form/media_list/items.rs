//! The items of a list, some of which are files that are still being uploaded.

/// The maximum number of earlier states of a list.
const MAX_EARLIER: usize = 100;

/// An item of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListItem {
    /// Identifies the item as long as the form lives, wherever it is moved. Uploads refer to it.
    pub id: u32,
    /// The address; `None` until the file is uploaded.
    pub address: Option<String>,
}

/// An upload for a list that was started before the list was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierUpload {
    /// The id of the item.
    pub item: u32,
    /// The index in the list.
    pub place: usize,
    /// The address of the item, if the file replaces one that the service has lost.
    pub replaces: Option<String>,
}

/// The items of a field, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MediaList {
    items: Vec<ListItem>,
    last_id: u32,
    /// The items before each change, for as long as a file is not uploaded: undo brings such a state back, and the file stays.
    earlier: Vec<Vec<ListItem>>,
}

impl MediaList {
    /// Creates a list of these addresses, with the items of uploads that were started earlier. A file that replaces an
    /// address that is not in the list gets no item.
    pub fn new(addresses: &[String], uploads: &[EarlierUpload]) -> Self {
        let ids = uploads.iter().map(|upload| upload.item);
        let mut list = Self {
            last_id: ids.max().unwrap_or_default(),
            ..Self::default()
        };
        for address in addresses {
            list.add(Some(address.clone()));
        }
        let mut uploads: Vec<&EarlierUpload> = uploads.iter().collect();
        uploads.sort_by_key(|upload| upload.place);
        for upload in uploads.iter().filter(|upload| upload.replaces.is_none()) {
            let item = ListItem {
                id: upload.item,
                address: None,
            };
            list.insert(item, upload.place);
        }
        let mut replaced = Vec::new();
        for upload in uploads.iter().filter(|upload| upload.replaces.is_some()) {
            let is_it =
                |at: &usize| list.items[*at].address == upload.replaces && !replaced.contains(at);
            let place = Some(upload.place).filter(|place| *place < list.items.len());
            let found = place
                .filter(is_it)
                .or_else(|| (0..list.items.len()).find(is_it));
            if let Some(at) = found {
                list.items[at].id = upload.item;
                replaced.push(at);
            }
        }
        list
    }

    pub fn items(&self) -> &[ListItem] {
        &self.items
    }

    /// Returns the value: the addresses in order, without files that are not uploaded yet.
    pub fn addresses(&self) -> Vec<String> {
        addresses(&self.items)
    }

    /// Adds an item at the end, and returns its id. `address`: `None` for a file that will be uploaded.
    pub fn add(&mut self, address: Option<String>) -> u32 {
        self.remember();
        self.last_id += 1;
        let id = self.last_id;
        self.items.push(ListItem { id, address });
        id
    }

    /// Sets the address of an item; `None` if its file is uploaded anew. Returns whether there is such an item.
    pub fn set(&mut self, id: u32, address: Option<String>) -> bool {
        self.remember();
        let item = self.items.iter_mut().find(|item| item.id == id);
        item.map(|item| item.address = address).is_some()
    }

    /// Removes an item. Returns the item that takes its place, or else the last one.
    pub fn remove(&mut self, id: u32) -> Option<u32> {
        let at = self.place(id)?;
        self.remember();
        self.items.remove(at);
        let next = self.items.get(at).or(self.items.last());
        next.map(|item| item.id)
    }

    /// Returns the index of an item.
    pub fn place(&self, id: u32) -> Option<usize> {
        self.items.iter().position(|item| item.id == id)
    }

    /// Moves an item to an index, or to the end if that is too large. Returns whether the order has changed.
    pub fn move_to(&mut self, id: u32, to: usize) -> bool {
        let Some(from) = self.place(id) else {
            return false;
        };
        self.remember();
        let to = to.min(self.items.len() - 1);
        let item = self.items.remove(from);
        self.items.insert(to, item);
        from != to
    }

    /// Takes a value that was set elsewhere. Items whose address stays keep their ids. If the list had this value before,
    /// such as before an undo, files that are not uploaded yet stay. Otherwise they belong to the earlier value: they are
    /// removed, and their ids returned.
    pub fn follow(&mut self, value: &[String]) -> Vec<u32> {
        if self.addresses() == value {
            return Vec::new();
        }
        self.remember();
        let is_value = |items: &&Vec<ListItem>| addresses(items) == value;
        let known = self.earlier.iter().rfind(is_value).cloned();
        let mut before = std::mem::take(&mut self.items);
        let files: Vec<(usize, ListItem)> = (before.iter().cloned().enumerate())
            .filter(|(_, item)| item.address.is_none())
            .collect();
        for address in value {
            let is_same = |item: &ListItem| item.address.as_ref() == Some(address);
            let item = match before.iter().position(is_same) {
                Some(at) => before.remove(at),
                None => {
                    self.last_id += 1;
                    ListItem {
                        id: self.last_id,
                        address: Some(address.clone()),
                    }
                }
            };
            self.items.push(item);
        }
        let Some(known) = known else {
            self.earlier.clear();
            return files.into_iter().map(|(_, file)| file.id).collect();
        };
        for (place, file) in files {
            let earlier = known.iter().position(|item| item.id == file.id);
            self.insert(file, earlier.unwrap_or(place));
        }
        Vec::new()
    }

    /// Removes files that have no upload any more, and adds those of other uploads at the end.
    pub fn sync_uploads(&mut self, uploads: &[u32]) {
        self.items
            .retain(|item| item.address.is_some() || uploads.contains(&item.id));
        for id in uploads {
            if self.place(*id).is_none() {
                let item = ListItem {
                    id: *id,
                    address: None,
                };
                self.insert(item, usize::MAX);
            }
        }
        self.forget_unless_uploading();
    }

    /// Inserts an item at an index, or at the end if that is too large.
    fn insert(&mut self, item: ListItem, place: usize) {
        self.items.insert(place.min(self.items.len()), item);
    }

    /// Remembers the present items before a change.
    fn remember(&mut self) {
        self.forget_unless_uploading();
        let has_files = self.items.iter().any(|item| item.address.is_none());
        if has_files && self.earlier.last() != Some(&self.items) {
            let surplus = (self.earlier.len() + 1).saturating_sub(MAX_EARLIER);
            self.earlier.drain(..surplus);
            self.earlier.push(self.items.clone());
        }
    }

    fn forget_unless_uploading(&mut self) {
        if self.items.iter().all(|item| item.address.is_some()) {
            self.earlier.clear();
        }
    }
}

fn addresses(items: &[ListItem]) -> Vec<String> {
    let addresses = items.iter().filter_map(|item| item.address.clone());
    addresses.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|it| (*it).to_owned()).collect()
    }

    fn earlier(uploads: &[(u32, usize)]) -> Vec<EarlierUpload> {
        let uploads = uploads.iter().map(|(item, place)| EarlierUpload {
            item: *item,
            place: *place,
            replaces: None,
        });
        uploads.collect()
    }

    /// The last file of a drop is often the smallest. The order must be that of the drop.
    #[test]
    fn the_order_does_not_depend_on_which_upload_ends_first() {
        let mut list = MediaList::new(&texts(&["a"]), &[]);
        let (b, c) = (list.add(None), list.add(None));
        assert_eq!(list.addresses(), ["a"]);
        assert!(list.set(c, Some("c".into())));
        assert_eq!(list.addresses(), ["a", "c"]);
        assert!(list.set(b, Some("b".into())));
        assert_eq!(list.addresses(), ["a", "b", "c"]);
        assert!(!list.set(99, Some("d".into())));
    }

    #[test]
    fn items_are_moved_within_the_list() {
        let mut list = MediaList::new(&texts(&["a", "b", "c"]), &[]);
        let [a, b, c] = [0, 1, 2].map(|at: usize| list.items()[at].id);
        assert!(list.move_to(c, 0));
        assert_eq!(list.addresses(), ["c", "a", "b"]);
        assert!(!list.move_to(c, 0) && !list.move_to(b, 9) && !list.move_to(99, 0));
        assert!(list.move_to(c, 1));
        assert_eq!(list.addresses(), ["a", "c", "b"]);
        assert_eq!(list.remove(c), Some(b), "the focus goes to the next item");
        assert_eq!(list.remove(b), Some(a));
        assert_eq!(list.remove(a), None);
    }

    /// Guards against an upload that adds its file to a value that the user has loaded meanwhile.
    #[test]
    fn a_value_from_elsewhere_replaces_running_uploads() {
        let mut list = MediaList::new(&texts(&["a", "b", "a"]), &[]);
        let ids: Vec<u32> = list.items().iter().map(|it| it.id).collect();
        let file = list.add(None);
        assert!(list.follow(&texts(&["a", "b", "a"])).is_empty());
        assert_eq!(list.items().len(), 4);
        assert_eq!(list.follow(&texts(&["b", "a", "x", "a"])), [file]);
        let now: Vec<u32> = list.items().iter().map(|it| it.id).collect();
        assert_eq!((now[0], now[1], now[3]), (ids[1], ids[0], ids[2]));
        assert!(!ids.contains(&now[2]));
    }

    #[test]
    fn uploads_that_are_gone_or_new_change_the_list() {
        let mut list = MediaList::new(&texts(&["a"]), &earlier(&[(5, 9), (7, 9)]));
        let ids: Vec<u32> = list.items().iter().map(|it| it.id).collect();
        assert_eq!(ids, [8, 5, 7], "ids of earlier uploads are not used again");
        list.sync_uploads(&[7]);
        assert_eq!(list.items().len(), 2);
        list.sync_uploads(&[]);
        assert_eq!(list.addresses(), ["a"]);
    }

    /// Guards against an upload that is canceled because the user takes back the removal of another item.
    #[test]
    fn undo_of_a_removal_keeps_running_uploads_in_their_places() {
        let mut list = MediaList::new(&texts(&["x", "y"]), &[]);
        let x = list.items()[0].id;
        let file = list.add(None);
        list.move_to(file, 1);
        list.remove(x);
        assert_eq!(list.addresses(), ["y"]);
        assert!(list.follow(&texts(&["x", "y"])).is_empty());
        assert_eq!(list.place(file), Some(1));
        // Redo.
        assert!(list.follow(&texts(&["y"])).is_empty());
        assert_eq!(list.place(file), Some(0));
        // A value from elsewhere, and then the earlier one again.
        assert_eq!(list.follow(&texts(&["z"])), [file]);
        assert!(list.follow(&texts(&["x", "y"])).is_empty());
        assert_eq!(list.items().len(), 2);
    }

    #[test]
    fn items_of_earlier_uploads_keep_their_places() {
        let uploads = earlier(&[(9, 3), (2, 1), (4, 99)]);
        let list = MediaList::new(&texts(&["a", "b"]), &uploads);
        let ids: Vec<u32> = list.items().iter().map(|it| it.id).collect();
        assert_eq!(ids, [10, 2, 11, 9, 4]);
    }

    /// Guards against a picture that is in the list twice after a reload, at its lost address and as a file.
    #[test]
    fn a_file_that_replaces_an_address_has_its_item() {
        let replacing = |item, place, address: &str| EarlierUpload {
            item,
            place,
            replaces: Some(address.into()),
        };
        let mut uploads = earlier(&[(1, 0)]);
        uploads.extend([
            replacing(2, 3, "a"),
            replacing(3, 9, "a"),
            replacing(4, 1, "removed"),
        ]);
        let mut list = MediaList::new(&texts(&["a", "b", "a"]), &uploads);
        let ids: Vec<u32> = list.items().iter().map(|it| it.id).collect();
        assert_eq!(ids, [1, 3, 6, 2]);
        assert!(list.set(2, Some("c".into())));
        assert_eq!(list.addresses(), ["a", "b", "c"]);
    }
}
