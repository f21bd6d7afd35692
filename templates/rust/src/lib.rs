//! {{name}}: reverses a text.

mod skillcell;

skill!(execute);

/// Takes JSON and returns JSON, or an error message.
fn execute(params: &str) -> Result<String, String> {
    let text = skillcell::string(params, "text").ok_or("The parameter \"text\" is missing")?;
    let reversed: String = text.chars().rev().collect();
    Ok(format!(
        "{{\"reversed\":{},\"characters\":{}}}",
        skillcell::quoted(&reversed),
        text.chars().count()
    ))
}
