//! What the landscapes of Strata look like, measured.

use super::*;

const SIZE: (u32, u32) = (480, 300);

/// A small landscape, without grain.
fn landscape(values: Value) -> Canvas {
    let strata = find(&ModelId::new("image", "strata"));
    let input = complete(strata.as_ref(), &values);
    let (width, height) = SIZE;
    let job = Job {
        frame: Some(Frame {
            width,
            height,
            original: None,
        }),
        ..Job::new(&input)
    };
    strata.poster(&job).unwrap()
}

fn lightness(canvas: &Canvas, x: u32, y: u32) -> f32 {
    canvas.get(x.into(), y.into()).lab().l
}

/// How much lighter or darker each column of land is than the one before, against the columns
/// around it; the highest.
fn seam(seed: u64) -> f32 {
    let (width, height) = SIZE;
    let canvas = landscape(
        json!({"prompt": "noon", "seed": seed, "mist": 0.0, "layers": 3, "water": "none"}),
    );
    let l = |x, y| lightness(&canvas, x, y);
    let steps: Vec<f32> = (0..width - 1)
        .map(|x| {
            let rows = height * 2 / 3..height;
            let mut steps: Vec<f32> = rows.map(|y| (l(x + 1, y) - l(x, y)).abs()).collect();
            // The median: what goes down through all of the land, not a crest's slope.
            steps.sort_by(f32::total_cmp);
            steps[steps.len() / 2]
        })
        .collect();
    (12..steps.len() - 12)
        .map(|x| {
            let mut around: Vec<f32> = steps[x - 12..=x + 12].to_vec();
            around.sort_by(f32::total_cmp);
            steps[x] / (around[around.len() * 4 / 5] + 0.002)
        })
        .fold(0.0, f32::max)
}

/// Guards against a straight line down through all ridges, below the sun.
#[test]
fn no_seam_runs_through_the_land() {
    for seed in 0..6 {
        let seam = seam(seed);
        assert!(seam < 2.0, "{seed}: {seam}");
    }
}

/// Guards against folds that hang straight down like a curtain's, and stand in ridge after ridge as
/// bands: then a slope changes far more from column to column than from row to row.
#[test]
fn slopes_do_not_hang_in_vertical_folds() {
    let (width, height) = SIZE;
    for seed in 0..6 {
        let canvas = landscape(
            json!({"prompt": "noon", "seed": seed, "mist": 0.0, "layers": 2, "water": "none"}),
        );
        let l = |x, y| lightness(&canvas, x, y);
        let (mut across, mut down) = (0.0, 0.0);
        // Here are only slopes: the crest of the far ridge is higher, that of the near one lower.
        for y in height * 64 / 100..height * 76 / 100 {
            for x in 0..width - 1 {
                across += (l(x + 1, y) - l(x, y)).abs();
                down += (l(x, y + 1) - l(x, y)).abs();
            }
        }
        assert!(down > 1.0, "{seed}: the slopes are blank");
        assert!(across < 1.5 * down, "{seed}: {across} across, {down} down");
    }
}

/// The mean difference of colour between two landscapes, in rows from and to these shares of the height.
fn apart(a: &Canvas, b: &Canvas, from: f32, to: f32) -> f32 {
    let rows = (SIZE.1 as f32 * from) as usize..(SIZE.1 as f32 * to) as usize;
    let range = rows.start * SIZE.0 as usize..rows.end * SIZE.0 as usize;
    let pairs = a.pixels[range.clone()].iter().zip(&b.pixels[range.clone()]);
    let apart = pairs.map(|(a, b)| {
        let (a, b) = (a.lab(), b.lab());
        ((a.l - b.l).powi(2) + (a.a - b.a).powi(2) + (a.b - b.b).powi(2)).sqrt()
    });
    apart.sum::<f32>() / range.len() as f32
}

/// Guards against a parameter without a visible effect.
#[test]
fn mist_hides_the_ridges_and_lies_on_the_water() {
    for seed in 0..6 {
        let make = |mist: f32| {
            landscape(json!({
                "prompt": "An alpine lake at dawn, teal and rose", "seed": seed, "mist": mist
            }))
        };
        let (clear, half, thick) = (make(0.0), make(0.5), make(1.0));
        // The water begins between 0.56 and 0.64.
        for (name, from, to) in [("ridges", 0.48, 0.56), ("water", 0.65, 0.8)] {
            let all = apart(&clear, &thick, from, to);
            assert!(all > 0.08, "{seed}: {name} change by {all}");
            let first = apart(&clear, &half, from, to);
            let second = apart(&half, &thick, from, to);
            assert!(first > 0.02, "{seed}: {name} change by {first} up to half");
            assert!(second > 0.02, "{seed}: {name} change by {second} from half");
        }
    }
}
