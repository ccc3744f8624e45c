//! Forms that several calls wait for, and answers that count.

use super::*;

fn own<'q>(questions: &'q Questions, asked: &ConfirmationSubject) -> OwnForm<'q> {
    match questions.turn(asked, "shown") {
        Ok(FormTurn::Own(form)) => form,
        Ok(FormTurn::Other(_)) => panic!("a form is open"),
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn one_form_about_a_thing_is_open_at_a_time() {
    let questions = Questions::default();
    let form = own(&questions, &ConfirmationSubject::Trust);
    assert!(matches!(
        questions.turn(&ConfirmationSubject::Trust, "shown"),
        Ok(FormTurn::Other(_))
    ));
    drop(own(
        &questions,
        &ConfirmationSubject::Approval("a".to_owned()),
    ));
    drop(form);
    let form = own(&questions, &ConfirmationSubject::Trust);
    let Ok(FormTurn::Other(waiting)) = questions.turn(&ConfirmationSubject::Trust, "shown") else {
        panic!("no form is open");
    };
    assert!(form.answered(Err(Unconfirmed::NotAgreed)).is_err());
    let outcome = *waiting.outcome.borrow();
    assert_eq!(outcome, Some(Err(Unconfirmed::NotAgreed)));
    assert_eq!(
        questions.turn(&ConfirmationSubject::Trust, "shown").err(),
        Some(Unconfirmed::AskedBefore)
    );
}

#[test]
fn a_yes_after_a_no_does_not_count() {
    let questions = Questions::default();
    let form = own(&questions, &ConfirmationSubject::Trust);
    questions
        .0
        .lock()
        .refused
        .insert(ConfirmationSubject::Trust);
    assert_eq!(form.answered(Ok(())).err(), Some(Unconfirmed::AskedBefore));
}

/// Otherwise a form that its client has given up would block all others.
#[test]
fn a_form_that_nobody_waits_for_gives_way_to_another_one() {
    let questions = Questions::default();
    let given_up = own(&questions, &ConfirmationSubject::Trust);
    let Ok(FormTurn::Other(waited_for)) = questions.turn(&ConfirmationSubject::Trust, "shown")
    else {
        panic!("no form is open");
    };
    questions.pass_over(&ConfirmationSubject::Trust, &waited_for.message);
    let form = own(&questions, &ConfirmationSubject::Trust);
    // The first one is no longer the one that others wait for.
    questions.pass_over(&ConfirmationSubject::Trust, &waited_for.message);
    drop(given_up);
    assert!(matches!(
        questions.turn(&ConfirmationSubject::Trust, "shown"),
        Ok(FormTurn::Other(_))
    ));
    assert!(form.answered(Err(Unconfirmed::NotAgreed)).is_err());
}
