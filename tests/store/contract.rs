//! What every store promises, as timelines. A store joins by a [`World`] and one line: `every_promise!(MyWorld::new())`.

pub(crate) mod board;
pub(crate) mod chain;
pub(crate) mod debt;
pub(crate) mod exclusion;
pub(crate) mod expiry;
pub(crate) mod forced;
pub(crate) mod ledger;
pub(crate) mod nest;
pub(crate) mod queue;
pub(crate) mod rest;
pub(crate) mod settling;
pub(crate) mod stale;
pub(crate) mod storm;
pub(crate) mod theft;

use std::time::Duration;

use locked::store::Store;

/// One store that several contenders share, with its clock in the test's hand.
pub(crate) trait World: Sync {
    /// Another contender's way to the store: a connection of its own.
    fn store(&self) -> Box<dyn Store + Send>;
    /// Lets this much time pass on the clock that judges expiry, without anybody renewing.
    fn pass(&self, time: Duration);
    /// Starts the machine anew; its clock begins at zero. False where the store's clock knows no such thing.
    fn reboot(&self) -> bool;
    /// Loses the counters of tokens, as a restored backup would.
    fn lose_tokens(&self);
}

/// Runs every promise against the store of a fresh world.
macro_rules! every_promise {
    ($world:expr) => {
        every_promise! { @each $world;
            exclusion: a_free_resource_is_granted_and_a_second_contender_is_told_who_has_it;
            exclusion: two_commands_of_one_session_exclude_each_other;
            exclusion: a_set_is_granted_whole_or_not_at_all;
            exclusion: the_same_name_in_another_scope_is_another_resource;
            exclusion: tokens_grow_over_release_expiry_and_lost_counters;
            exclusion: a_lost_answer_is_read_back_by_the_same_grant;
            exclusion: another_key_does_not_read_a_grant_back;
            expiry: a_first_grant_is_short_and_a_renew_gives_the_full_ttl;
            expiry: the_holder_s_own_ttl_decides_and_the_successor_is_named;
            expiry: a_renew_of_an_expired_lease_that_nobody_took_succeeds;
            expiry: one_lost_resource_of_a_set_loses_them_all;
            expiry: a_wrong_key_or_token_renews_nothing;
            expiry: a_reboot_expires_what_was_held_but_not_a_quarantine;
            expiry: a_holder_proven_gone_is_reclaimed_at_once;
            expiry: a_proof_does_not_free_what_rests_with_its_session;
            expiry: a_remote_effect_is_given_one_more_ttl;
            expiry: a_remote_effect_is_given_its_time_after_a_proof_and_over_a_reboot;
            queue: the_oldest_request_goes_first_and_sees_its_place;
            queue: a_single_try_does_not_barge_and_leaves_no_ticket;
            queue: a_younger_request_waits_for_an_older_one_over_a_set;
            queue: disjoint_requests_do_not_wait_for_each_other;
            queue: a_silent_waiter_is_skipped_and_loses_its_place;
            queue: a_waiter_that_is_heard_keeps_its_place;
            queue: a_waiter_that_leaves_or_is_proven_gone_blocks_nobody;
            queue: the_session_s_own_command_passes_those_who_wait_for_the_session;
            queue: what_anybody_may_take_goes_to_the_oldest;
            nest: a_command_below_the_holder_joins_and_siblings_wait;
            nest: a_join_that_outlives_the_holder_inherits_the_lease;
            nest: a_join_that_settles_again_is_told_the_same;
            nest: a_stale_environment_joins_nothing;
            nest: other_resources_are_taken_normally_from_below;
            nest: waiting_in_a_circle_is_refused_at_once;
            nest: who_holds_never_waits_behind_those_who_wait_for_it;
            nest: a_hold_between_commands_is_not_taken_from_below_a_command;
            nest: a_bad_file_of_a_join_quarantines_when_the_holder_is_done;
            nest: what_a_dead_join_left_is_proven_after_its_holder_is_done;
            nest: an_heir_owes_what_its_holder_owed;
            nest: what_may_run_on_below_lets_nobody_in_beside_it_or_after_the_holder;
            nest: what_ran_on_below_and_has_ended_is_in_nobody_s_way;
            nest: what_runs_on_below_a_dead_holder_is_given_its_time_and_owed;
            nest: a_dead_join_is_reclaimed_and_owed;
            nest: a_remote_effect_below_is_the_holder_s_too;
            nest: a_restore_takes_a_quarantine_over_and_owes_it_until_it_is_done;
            rest: an_explicit_hold_is_adopted_and_handed_back;
            rest: a_hold_is_not_handed_back_when_a_person_ends_it;
            rest: a_failed_command_does_not_give_away_the_explicit_hold;
            rest: acquiring_what_one_has_is_a_success;
            rest: a_kept_lease_is_its_session_s_alone_until_it_expires;
            rest: a_takeable_lease_goes_to_anybody_at_once;
            rest: what_anybody_may_take_is_not_renewed_by_its_session;
            rest: a_hold_is_for_its_issue_until_another_is_named;
            rest: what_a_success_set_off_elsewhere_lets_nobody_in_its_own_session_neither;
            rest: a_quarantine_stops_everybody_and_never_expires;
            rest: the_session_renews_and_ends_what_rests_but_not_what_runs;
            rest: who_keeps_a_hold_alive_keeps_that_hold_alone;
            rest: what_a_short_command_left_of_a_hold_is_renewed_by_the_hold_s_ttl;
            settling: the_same_settling_twice_is_released_twice;
            settling: a_reclaimed_lease_is_not_ours_to_settle;
            settling: a_wrong_key_or_token_settles_nothing;
            settling: a_set_is_settled_whole_or_not_at_all;
            settling: an_open_edit_is_renewed_and_ended_by_its_keeper;
            settling: receipts_form_a_chain_and_come_once;
            chain: who_is_granted_a_file_is_told_its_newest_version;
            chain: a_lost_answer_tells_the_newest_versions_as_well;
            chain: what_has_a_receipt_is_found_by_either_name_under_whatever_path;
            chain: more_than_one_question_may_hold_is_refused;
            chain: the_chains_of_many_paths_come_with_one_question;
            chain: any_number_of_resources_is_asked_about;
            settling: what_may_run_on_lets_nobody_in_for_one_ttl_and_is_proven_again;
            settling: a_lost_answer_to_a_settling_apart_does_not_end_the_hold_that_it_gave_back;
            settling: what_ends_apart_does_not_take_the_rest_of_the_set_along;
            settling: what_stays_apart_stays_with_its_session_and_the_rest_is_anybody_s;
            debt: the_successor_of_a_crash_is_told_what_to_prove;
            debt: debts_outlive_two_crashes;
            debt: recording_files_pays_the_debt;
            debt: a_gone_holder_s_other_resources_keep_their_debt;
            debt: an_open_edit_that_expires_is_owed_and_a_takeable_one_is_not;
            debt: what_a_session_adopts_is_owed_only_after_a_crash;
            forced: a_forced_run_is_recorded_once_and_stands_in_nobody_s_way;
            forced: a_forced_run_that_left_a_file_bad_quarantines_it_whoever_is_there;
            forced: a_forced_run_that_nobody_saw_end_is_proven_by_the_next;
            forced: a_forced_run_that_may_run_on_lets_nobody_in_for_its_time;
            forced: who_restores_is_told_what_a_forced_run_may_have_written_meanwhile;
            forced: what_of_a_forced_run_ended_apart_does_not_take_the_rest_along;
            ledger: live_leases_show_state_time_and_waiters;
            ledger: history_is_newest_first_and_names_the_receipt;
            ledger: history_can_be_narrowed;
            ledger: what_is_left_to_a_person_frees_the_slot_and_stays_until_it_is_done;
            ledger: a_holder_s_last_word_is_in_the_ledger;
            ledger: no_text_of_a_holder_can_draw_on_a_terminal;
            board: a_session_says_what_it_does_until_it_ends;
            board: what_a_session_does_with_leases_is_its_activity;
            board: asking_for_words_is_activity_and_keeping_alive_is_not;
            board: who_waits_is_listed_with_what_for;
            board: a_word_comes_with_the_next_grant_and_only_once;
            board: words_are_few_and_cannot_draw_on_a_terminal;
            board: what_happens_is_counted;
            stale: one_that_asks_is_nobody_s_until_a_person_says_so;
            stale: a_proof_that_its_holder_is_gone_frees_nothing;
            stale: its_own_session_goes_on_with_it;
            stale: what_others_might_take_they_may_not;
            stale: a_hold_that_asks_asks_when_it_is_handed_back;
            stale: what_asks_below_a_holder_asks_for_the_holder;
            stale: a_remote_effect_is_given_its_time_and_then_a_person_is_asked;
            stale: what_its_holder_has_released_asks_nobody;
            stale: a_forced_run_does_not_take_the_question_away;
            stale: a_reboot_asks_too;
            theft: a_running_victim_is_told_and_the_thief_waits_for_it;
            theft: nothing_is_taken_from_who_was_not_shown;
            theft: a_victim_that_does_not_answer_is_waited_for_until_its_time_is_over;
            theft: however_the_victim_ends_the_lease_is_over_for_it;
            theft: a_victim_that_finished_its_work_has_finished_it;
            theft: what_the_victim_left_bad_stays_in_quarantine;
            theft: what_of_the_victim_may_run_on_is_given_its_time;
            theft: at_once_waits_for_nobody_and_what_was_written_is_owed;
            theft: a_victim_that_is_proven_gone_is_not_waited_for;
            theft: a_thief_stands_before_all_who_wait;
            theft: what_rests_is_taken_at_once_and_a_quarantine_by_nobody;
            theft: what_has_run_out_is_taken_at_once;
            theft: a_victim_s_heir_is_a_victim_too;
            theft: an_adopted_hold_is_not_handed_back_to_the_victim;
            storm: of_many_threads_exactly_one_holds;
            storm: thieves_among_many_threads_never_meet_who_they_steal_from;
            storm: many_threads_over_sets_never_overlap_and_never_deadlock;
        }
    };
    (@each $world:expr; $($room:ident: $promise:ident;)*) => {
        $(#[test]
        fn $promise() {
            crate::store::contract::$room::$promise(&$world);
        })*
    };
}
pub(crate) use every_promise;
