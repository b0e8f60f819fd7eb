/** One who takes part, and one who runs. Types only. */

export interface RunningSubject {
  pid: number;
  /** The call's id is appended. */
  urlPrefix: string;
  stop(): Promise<void>;
}

export interface SubjectKind {
  name: string;
  /** What its calls begin at: what setting one up costs is not to queue. */
  dialsPerSecond: number;
  /** Where the search for its knee begins. */
  firstRung: number;
  start(providersPort: number): Promise<RunningSubject>;
}
