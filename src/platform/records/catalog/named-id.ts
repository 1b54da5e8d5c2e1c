/** Ids that are computed from a name: the same name always has the same id. */

import { v5 } from 'uuid'

/** UUID namespaces. They are written down in what is stored, and never change. */
const namespaces = {
  /** The branch of the log of a catalog. */
  branch: 'c1c2b0a4-5f6e-4d0f-8a39-1d7f0b6f5a52',
  /** A configuration of feedback, by its key. */
  feedbackConfig: '9b0d0c56-62f6-4a2f-8f0e-8e7f2f0d3c21',
  /** Feedback that was sent without an id. */
  feedback: '3f6f3bb0-0a0e-4d0c-9a4e-4a4b1b7c7d11',
  /** Sections and charts of the ready dashboards. */
  chart: '60a3f4a8-6f0e-4bb4-8d0f-6c7c86c2c3b7',
  /** A part of the list of datasets that have an example. */
  exampleBucket: '0c3e2b8e-58d4-4a9c-9a1f-6d1f0a9b3c77',
  /** An example of a file, by its dataset and its place in the file. */
  uploaded: '1f0c6e2b-93d7-4a58-8e41-5b7d2c90a6e4',
  /** A run of an experiment that was sent whole, and each score. */
  uploadedRun: '4c9f1e07-5d2b-4b86-9e3a-8a1f6c0d7b25',
  /** A task of a run of this server, as a span. */
  ownStep: 'a4d8a1c2-0d4b-4f6e-9a53-5a0c7e21b6f0',
  /** The spans of a project that ended in one hour. */
  ended: '7c0e4f5d-2a0b-4c59-9a1e-0f7f3d0a6b52',
  /** A run of an experiment, and what evaluators say of it. */
  experiment: '3f6b1d74-9c2e-4a58-b0d7-6e1f8a2c4b95',
  /** Action of a rule on a span. */
  rule: 'e2b94b0c-6d5f-4b3a-8d5e-1c9b4a7f2e63',
  /** A key that signs links to files. */
  linkKey: '0d9f6a52-3c0e-4f0b-9c7a-52a0f1f0b8e4',
  /** A removal that is not finished. */
  removal: 'd17a3f58-0b6c-4e92-9d4a-8c2e5f7b1069',
  /** A former name of projects. */
  formerName: '4c7e1a90-52d3-4f0b-8b6e-9d1c3f7a2e58',
  /** Notes on runs of this server. */
  ownRun: '9e2b6d04-7f1a-4c83-a5d9-1b0e8c4f6a37',
  /** A share of an object. */
  share: '5b1c8e0e-8f57-4d2f-bb0a-6a0f0f3e7c11',
  /** An item of an annotation queue. */
  queueItem: 'e2f6a1de-1d0e-46c3-a1f0-7d3c6b5a9f24',
  /** A reviewer, by what identifies the caller. */
  reviewer: 'b7a3a3c6-6a0b-4a44-9f0d-2c9d8a1e5f37',
  /** The use of a deployment by a tenant. */
  deploymentUse: '8d6a1c0f-3b52-4e7d-9c11-5f0a7e2b4d86',
  /** A secret of a workspace, by its name. */
  secret: '5b7f0c9e-8d0a-4f53-9a3d-2c6f4e1b7a90',
  /** The recorded calls of a run, and an execution of it. */
  recording: '2f9d5b7e-6c41-4e0a-93b8-7d1a0c5e8f36',
} as const

/** The id, a UUID of version 5. */
export function namedId(kind: keyof typeof namespaces, text: string): string {
  return v5(text, namespaces[kind])
}
