/** Links with which anybody reads a trace or a conversation. */

import { Type } from 'typebox'

import { Maybe, Nullable, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'

const RunShare = Type.Object({ run_id: Text(), share_token: Text() })
const Share = Type.Object({ share_token: Text() })
const Conversation = { params: Type.Object({ id: Text(1_000) }) }
const InProject = Type.Object({ project_id: Uuid() })

export const shareRun = operation('PUT', '/api/v1/runs/:id/share', {
  access: 'change',
  summary: 'Let anybody read the trace of a run who has its link',
  // The token that a client proposes is not taken: it may be one that others can guess.
  body: Type.Object({ run_id: Type.Optional(Uuid()) }),
  answer: RunShare,
})

export const getRunShare = operation('GET', '/api/v1/runs/:id/share', {
  access: 'read',
  summary: 'Get the token of the trace of a run; null if it is not shared',
  answer: Nullable(RunShare),
})

export const unshareRun = operation('DELETE', '/api/v1/runs/:id/share', {
  access: 'change',
  summary: 'Take the link to a trace back',
  answer: Type.Object({ message: Text() }),
})

export const shareRunV2 = operation('POST', '/api/v2/runs/:id/share', {
  access: 'change',
  summary: 'Let anybody read the trace of a run who has its link',
  body: Type.Object({ session_id: Uuid(), trace_id: Maybe(Uuid()) }),
  answer: Share,
})

export const unshareRunV2 = operation('DELETE', '/api/v2/runs/:id/share', {
  access: 'change',
  summary: 'Take the link to a trace back',
  body: Type.Object({ session_id: Uuid() }),
})

export const shareConversation = operation('POST', '/api/v2/threads/:id/share', {
  ...Conversation,
  access: 'change',
  summary: 'Let anybody read a conversation who has its link',
  body: InProject,
  answer: Share,
})

export const getConversationShare = operation('GET', '/api/v2/threads/:id/share', {
  ...Conversation,
  access: 'read',
  summary: 'Get the token of a conversation, if it is shared',
  query: InProject,
  answer: Type.Partial(Share),
})

export const unshareConversation = operation('DELETE', '/api/v2/threads/:id/share', {
  ...Conversation,
  access: 'change',
  summary: 'Take the link to a conversation back',
  query: InProject,
})
