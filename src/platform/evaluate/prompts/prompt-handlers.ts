/** Handlers of the query thread for prompts: they read the bodies of commits. */

import { readCommitBody } from './commit-body.ts'
import { readDirectoryBody } from './directory.ts'
import type { CommitBody } from './prompt.ts'

/** Bodies of commits, read. Both throw `malformed`, `invalid`, `too_large`. */
export interface PromptReads {
  commitBody(body: Uint8Array): Promise<CommitBody>
  directoryBody(
    question: { readonly body: Uint8Array; readonly before: Uint8Array | null },
  ): Promise<CommitBody>
}

/** The handlers of `PromptReads`: they parse commits with manifests or with files. */
export const promptReads: PromptReads = {
  commitBody: async (body) => readCommitBody(body),
  directoryBody: async (question) => readDirectoryBody(question),
}
