/** What the controls share that answer a question. */

/** What the answer of a question needs. */
export interface AnswerProps {
  /** Keeps what was begun. */
  readonly draftKey: string
  readonly give: (value: unknown) => void
  readonly refusal: string | undefined
  /** True for the question that keys answer. */
  readonly hasKeys: boolean
}
