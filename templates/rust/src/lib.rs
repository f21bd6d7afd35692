//! {{name}}: turns a text around.

mod skillcell;

skill!(execute);

/// JSON in, JSON out; an error is a message for people.
fn execute(params: &str) -> Result<String, String> {
    let text = skillcell::string(params, "text").ok_or("The parameter \"text\" is missing")?;
    let reversed: String = text.chars().rev().collect();
    Ok(format!(
        "{{\"reversed\":{},\"characters\":{}}}",
        skillcell::quoted(&reversed),
        text.chars().count()
    ))
}
