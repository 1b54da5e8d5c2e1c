/** Properties shared by the controls that answer a question. */

/** Properties that the answer to a question needs: its draft, its callback, its refusal. */
export interface AnswerProps {
  /** Keeps what was begun. */
  readonly draftKey: string
  /** `canUndo`: it is sent after a time in which it can be taken back. */
  readonly give: (value: unknown, canUndo?: boolean) => void
  readonly refusal: string | undefined
  /** True for the question that keys answer. */
  readonly hasKeys: boolean
}
