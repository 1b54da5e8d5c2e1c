/** Ids that are made of what they stand for: the same thing always has the same id. */

import { v5 } from 'uuid'

/** UUID namespaces. They are written down in what is stored, and never change. */
const namespaces = {
  /** The branch of the log of a catalog. */
  branch: 'c1c2b0a4-5f6e-4d0f-8a39-1d7f0b6f5a52',
  /** A configuration of feedback, by its key. */
  feedbackConfig: '9b0d0c56-62f6-4a2f-8f0e-8e7f2f0d3c21',
  /** Feedback that was sent without an id. */
  feedback: '3f6f3bb0-0a0e-4d0c-9a4e-4a4b1b7c7d11',
  /** Sections and charts that nobody made. */
  chart: '60a3f4a8-6f0e-4bb4-8d0f-6c7c86c2c3b7',
  /** A task of a run of this server, as a span. */
  ownStep: 'a4d8a1c2-0d4b-4f6e-9a53-5a0c7e21b6f0',
} as const

/** The id, a UUID of version 5. */
export function namedId(kind: keyof typeof namespaces, text: string): string {
  return v5(text, namespaces[kind])
}
