/** A hint, and what it says to a user who already runs `trdr doctor`. */
export interface DoctorHint {
  readonly hint: string;
  readonly checkHint: string;
}

/** Advice that `trdr doctor` can confirm: `check the base URL: trdr doctor`. */
export const adviceFor = (advice: string): DoctorHint => ({
  hint: `${advice}: trdr doctor`,
  checkHint: advice,
});

/** Something that `trdr doctor` shows: `run "trdr doctor" to see how the service has changed`. */
export const seeInDoctor = (what: string): DoctorHint => ({
  hint: `run "trdr doctor" to see ${what}`,
  checkHint: `see below ${what}`,
});

export const DIFFERENT_SERVICE = seeInDoctor('how the service differs from its description');
