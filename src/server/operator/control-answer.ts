/** Types of the control API's answers, for the commands that are its clients. */

export type { ControlDeployment, ControlLine, ControlMove, ControlOutcome, ControlReport,
  ControlRevision, ControlRollout, ControlSecret, ControlUpload } from '../../frontdoor/index.ts'
