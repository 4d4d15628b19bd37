//! The file gate: its order, who gets in, and what a crash leaves.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use semel_core::{Fence, StoreErrorKind};
use tempfile::TempDir;

use super::{FileGate, FilePass, FilePassage, file_form};

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("orders.fence")
    }

    fn gate(&self) -> FileGate {
        FileGate::new(self.path())
    }
}

fn passed(gate: &FileGate, fence: u64) -> FilePass {
    match gate.enter(Fence::new(fence)).unwrap() {
        FilePassage::Passed(pass) => pass,
        refused => panic!("{fence} must pass: {refused:?}"),
    }
}

/// The fence that stood against it.
fn refused(gate: &FileGate, fence: u64) -> u64 {
    match gate.enter(Fence::new(fence)).unwrap() {
        FilePassage::Refused { seen } => seen.get(),
        passed => panic!("{fence} must not pass: {passed:?}"),
    }
}

#[test]
fn a_smaller_fence_is_refused_and_an_equal_or_larger_one_passes() {
    let place = Place::new();
    for fence in [0, 7, 7, 9] {
        drop(passed(&place.gate(), fence));
    }
    assert_eq!(refused(&place.gate(), 8), 9);
    drop(passed(&place.gate(), u64::MAX));
    assert_eq!(refused(&place.gate(), u64::MAX - 1), u64::MAX);
}

/// The older one is inside when the later one comes: it is done before the later one begins.
#[test]
fn a_later_holder_waits_for_the_older_one_inside_and_the_older_one_never_comes_after_it() {
    let place = Place::new();
    let data = place.folder.path().join("data");
    let inside = passed(&place.gate(), 7);
    let (sender, entered) = mpsc::channel();
    let (gate, path) = (place.gate(), data.clone());
    let later = thread::spawn(move || {
        let _pass = passed(&gate, 8);
        sender.send(()).unwrap();
        fs::write(path, "8").unwrap();
    });
    // The pause in the middle of the work: whatever the later one does, it does not get in.
    for _ in 0..200 {
        assert_eq!(entered.try_recv(), Err(mpsc::TryRecvError::Empty));
        thread::yield_now();
    }
    fs::write(&data, "7").unwrap();
    drop(inside);
    later.join().unwrap();
    assert_eq!(fs::read_to_string(&data).unwrap(), "8");
    assert_eq!(refused(&place.gate(), 7), 8);
}

/// Many of both at once, over and over: the last write is never an older one's.
#[test]
fn whoever_comes_in_whatever_order_the_fences_of_what_is_written_never_fall() {
    let place = Place::new();
    let data = place.folder.path().join("data");
    thread::scope(|scope| {
        for worker in 0..4_u64 {
            let (gate, data) = (place.gate(), data.clone());
            scope.spawn(move || {
                for round in 0..40_u64 {
                    let fence = (round * 7 + worker * 13) % 50;
                    let FilePassage::Passed(_pass) = gate.enter(Fence::new(fence)).unwrap() else {
                        continue;
                    };
                    let before: u64 =
                        fs::read_to_string(&data).map_or(0, |text| text.parse().unwrap());
                    assert!(before <= fence, "{fence} came after {before}");
                    fs::write(&data, fence.to_string()).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_file_that_is_cut_off_or_changed_anywhere_is_an_error_and_lets_nothing_pass() {
    let place = Place::new();
    drop(passed(&place.gate(), 1_764_500_000_000_000));
    let whole = fs::read(place.path()).unwrap();
    let cut = (0..whole.len()).map(|length| whole[..length].to_vec());
    let changed = (0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    });
    let longer = [b"\0".as_slice(), b"\n", &whole].map(|more| [&whole, more].concat());
    for bytes in cut.chain(changed).chain(longer) {
        fs::write(place.path(), &bytes).unwrap();
        let error = place.gate().enter(Fence::new(u64::MAX)).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Damaged);
        assert!(error.to_string().contains("orders.fence"), "{error}");
        assert_eq!(fs::read(place.path()).unwrap(), bytes, "it is left for people to look at");
    }
}

/// At each step of remembering 9 after 7: what is there when power fails is 7 or 9.
#[test]
fn a_crash_at_any_step_of_remembering_leaves_the_old_fence_or_the_new_one() {
    let new = file_form::write(Fence::new(9));
    for length in 0..=new.len() {
        let place = Place::new();
        drop(passed(&place.gate(), 7));
        // It died after so many bytes of the file beside, and before the rename.
        fs::write(place.gate().beside(".new"), &new[..length]).unwrap();
        assert_eq!(refused(&place.gate(), 6), 7);
        drop(passed(&place.gate(), 8));
        assert_eq!(refused(&place.gate(), 7), 8);
    }
    // It died after the rename, before it gave its answer: the same fence again passes.
    let place = Place::new();
    fs::write(place.path(), &new).unwrap();
    drop(passed(&place.gate(), 9));
    assert_eq!(refused(&place.gate(), 8), 9);
}

/// A first fence that was not renamed into place was never answered: it is no fence.
#[test]
fn a_crash_before_the_first_fence_was_in_place_leaves_none() {
    let place = Place::new();
    fs::write(place.gate().beside(".new"), file_form::write(Fence::new(9))).unwrap();
    drop(passed(&place.gate(), 7));
}

#[test]
fn a_folder_that_is_not_there_or_a_file_that_is_none_is_told_by_its_name() {
    let place = Place::new();
    let nowhere = FileGate::new(place.folder.path().join("nowhere").join("x.fence"));
    let error = nowhere.enter(Fence::new(1)).unwrap_err();
    assert!(error.to_string().contains("x.fence can't be locked"), "{error}");
    fs::create_dir(place.path()).unwrap();
    let error = place.gate().enter(Fence::new(1)).unwrap_err();
    assert!(error.to_string().contains("orders.fence can't be read"), "{error}");
}
