//! Measurements of how the words of the vocabulary affect the images.

use super::*;
use crate::draw::color::Lab;
use crate::draw::vocabulary::{Entry, Feature, Ground, Sense, entries};

/// Returns the image size in pixels; fine lines need a larger one.
fn size(model: &dyn Model) -> (u32, u32) {
    match model.about().subcategory {
        "fluxfield" => (240, 160),
        _ => (96, 64),
    }
}

/// Renders a small image. With a fixed `dice`, prompts differ only by their meanings.
fn picture(model: &dyn Model, prompt: &str, seed: u64, dice: Option<u64>) -> Vec<Lab> {
    let canvas = render(model, prompt, seed, dice, original(model));
    canvas.pixels.iter().map(|pixel| pixel.lab()).collect()
}

fn original(model: &dyn Model) -> Option<Canvas> {
    let source = find(&model.sample_source()?);
    Some(render(source.as_ref(), "day", 11, None, None))
}

fn render(
    model: &dyn Model,
    prompt: &str,
    seed: u64,
    dice: Option<u64>,
    original: Option<Canvas>,
) -> Canvas {
    let mut values = json!({"prompt": prompt, "seed": seed});
    if original.is_some() {
        values["image_url"] = "a".into();
    }
    if model.schema().parameter("duration").is_some() {
        values["duration"] = 4.into();
    }
    let input = complete(model, &values);
    let (width, height) = size(model);
    let mut job = Job {
        frame: Some(Frame {
            width,
            height,
            original,
        }),
        ..Job::new(&input)
    };
    job.reading.hash = dice.unwrap_or(job.reading.hash);
    model.poster(&job).unwrap()
}

fn is_understood(model: &dyn Model, entry: &Entry) -> bool {
    entry.senses.iter().any(|sense| model.understands(sense))
}

/// Returns the models that understand this meaning.
fn models_understanding(sense: &Sense) -> Vec<Box<dyn Model>> {
    let mut models = models();
    models.retain(|model| model.understands(sense));
    models
}

fn mean(picture: &[Lab], of: impl Fn(&Lab) -> f32) -> f32 {
    picture.iter().map(of).sum::<f32>() / picture.len() as f32
}

/// Returns the share of the colored pixels with this hue; for white, gray and black, the share of all pixels.
fn share(picture: &[Lab], color: Lab) -> f32 {
    if color.is_grey() {
        return mean(picture, |pixel| {
            let near = pixel.chroma() < 0.045 && (pixel.l - color.l).abs() < 0.22;
            f32::from(near)
        });
    }
    let coloured: Vec<&Lab> = picture.iter().filter(|p| p.chroma() > 0.025).collect();
    if coloured.len() * 20 < picture.len() {
        return 0.0;
    }
    let away = |pixel: &Lab| {
        let turn = pixel.hue() - color.hue();
        ((turn + 540.0).rem_euclid(360.0) - 180.0).abs()
    };
    coloured.iter().filter(|pixel| away(pixel) < 27.0).count() as f32 / coloured.len() as f32
}

fn colours() -> Vec<(&'static str, Lab)> {
    entries()
        .filter_map(|entry| {
            let color = entry.senses.iter().find_map(|sense| sense.colour())?;
            Some((entry.words[0], color))
        })
        .collect()
}

#[test]
fn every_named_color_is_visible() {
    let understanding = models_understanding(&Sense::Colour(0.5, 0.1, 0.0));
    assert!(understanding.len() >= 5);
    let colours = colours();
    for model in understanding {
        let model = model.as_ref();
        for (i, (word, color)) in colours.iter().enumerate() {
            let seed = i as u64;
            let alone = share(&picture(model, word, seed, None), *color);
            let least = if color.is_grey() { 0.05 } else { 0.45 };
            assert!(alone > least, "{}: {word}: {alone}", model.id());
        }
    }
}

#[test]
fn each_of_several_named_colors_is_visible() {
    let colours = colours();
    let color = |word: &str| colours.iter().find(|(name, _)| *name == word).unwrap().1;
    for model in models_understanding(&Sense::Colour(0.5, 0.1, 0.0)) {
        let model = model.as_ref();
        for words in [
            &["rose", "teal"][..],
            &["gold", "indigo"],
            &["green", "violet"],
            &["orange", "blue"],
            &["navy", "peach"],
            &["red", "black"],
            &["blue", "red", "gold"],
        ] {
            for seed in 0..2 {
                let made = picture(model, &words.join(" and "), seed, None);
                for word in words {
                    let found = share(&made, color(word));
                    let id = model.id();
                    assert!(found > 0.03, "{id}: {word} in {words:?}, {seed}: {found}");
                }
            }
        }
    }
}

/// Returns the lightness of the background.
fn ground(picture: &[Lab], ground: Ground) -> f32 {
    let mut lights: Vec<f32> = picture.iter().map(|pixel| pixel.l).collect();
    lights.sort_by(f32::total_cmp);
    let share = match ground {
        Ground::Paper => 0.75,
        Ground::Dark => 0.08,
    };
    lights[(lights.len() as f32 * share) as usize]
}

/// Guards against cobalt on a dark ground for "on paper", depending on the random numbers.
#[test]
fn uses_the_named_ground() {
    let sense = Sense::Ground(Ground::Paper);
    let models_understanding = models_understanding(&sense);
    assert!(!models_understanding.is_empty());
    for model in models_understanding {
        let model = model.as_ref();
        for seed in 0..2 {
            for entry in entries() {
                let named = entry.senses.iter().find_map(|sense| match sense {
                    Sense::Ground(ground) => Some(*ground),
                    _ => None,
                });
                let Some(named) = named else { continue };
                let word = entry.words[0];
                for prompt in [format!("cobalt on {word}"), word.to_owned()] {
                    // One value chooses paper, the other a dark ground.
                    let dice = Some(7 + seed);
                    let made = picture(model, &prompt, seed, dice);
                    let l = ground(&made, named);
                    match named {
                        Ground::Paper => assert!(l > 0.88, "{prompt}, {seed}: {l}"),
                        Ground::Dark => assert!(l < 0.35, "{prompt}, {seed}: {l}"),
                    }
                }
            }
        }
    }
}

#[test]
fn mood_words_change_lightness_and_chroma() {
    type Measure = fn(&Lab) -> f32;
    let light: Measure = |pixel| pixel.l;
    let vivid: Measure = |pixel| pixel.chroma();
    for (sense, less, more, measure) in [
        (Sense::Light(1.0), "gloomy", "radiant", light),
        (Sense::Vivid(1.0), "muted", "vibrant", vivid),
    ] {
        for model in models_understanding(&sense) {
            let model = model.as_ref();
            if !paints(model) {
                continue;
            }
            for rest in ["", "rose and teal"] {
                let of = |word: &str| {
                    let prompt = format!("{word} {rest}");
                    mean(&picture(model, &prompt, 3, Some(7)), measure)
                };
                let (less_of_it, more_of_it) = (of(less), of(more));
                let id = model.id();
                assert!(
                    more_of_it > less_of_it * 1.08,
                    "{id}: {less} {less_of_it}, {more} {more_of_it} ({rest})"
                );
            }
        }
    }
}

/// Returns whether the model makes images. The drawing of a sound shows only its loudness.
fn paints(model: &dyn Model) -> bool {
    model.extension() != "wav"
}

/// Guards against words in the vocabulary without an effect.
#[test]
fn every_word_of_a_vocabulary_changes_the_output() {
    for model in models() {
        let model = model.as_ref();
        let original = original(model);
        let make = |prompt: &str, dice: u64| {
            let canvas = render(model, prompt, 5, Some(dice), original.clone());
            let lab = canvas.pixels.iter().map(|pixel| pixel.lab());
            lab.collect::<Vec<Lab>>()
        };
        // Two values, because the default choice may match the word.
        let plain = [7, 8].map(|dice| (dice, make("a", dice)));
        let id = model.id();
        for entry in entries().filter(|entry| is_understood(model, entry)) {
            let word = entry.words[0];
            let changes = plain.iter().map(|(dice, plain)| {
                let made = make(word, *dice);
                let apart = |(a, b): (&Lab, &Lab)| {
                    (a.l - b.l).abs() + (a.a - b.a).abs() + (a.b - b.b).abs()
                };
                made.iter().zip(plain).map(apart).sum::<f32>() / plain.len() as f32
            });
            let most = changes.fold(0.0, f32::max);
            assert!(most > 0.004, "{id}: {word} changes {most}");
        }
        let others = entries().filter(|entry| !is_understood(model, entry));
        let others: Vec<&str> = others.map(|entry| entry.words[0]).collect();
        let (dice, plain) = &plain[0];
        let same = make(&others.join(" "), *dice) == *plain;
        assert!(same, "{id} understands one of {others:?}");
    }
}

#[test]
fn a_schema_lists_the_words_its_model_understands() {
    for model in models() {
        let model = model.as_ref();
        let schema = model.schema();
        let (prompt, _) = schema.parameter("prompt").unwrap();
        let vocabulary = prompt.extra["vocabulary"].as_array().unwrap();
        assert!(vocabulary.len() > 20, "{}", model.id());
        let teal = vocabulary.contains(&json!({"word": "teal", "kind": "colour"}));
        assert_eq!(teal, paints(model));
        let rain = vocabulary.contains(&json!({"word": "rain", "kind": "weather"}));
        assert!(rain || paints(model));
        assert!(!prompt.description.contains(FAIL_WORD));
    }
    let fluxfield = find(&ModelId::new("image", "fluxfield"));
    assert!(!fluxfield.understands(&Sense::Feature(Feature::Water)));
}
