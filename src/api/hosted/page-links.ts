/** Addresses of pages that clients print, as the product writes them: they lead to the Studio. */

import { Type } from 'typebox'

import { Text } from '../json.ts'
import { operation } from '../operation.ts'

const named = Type.Object({ name: Text(1_000) })
const committed = Type.Object({ ...named.properties, commit: Text(1_000) })
const owner = { owner: Text(1_000) }
const query = Type.Object({
  trace_id: Type.Optional(Text(100)),
  selectedSessions: Type.Optional(Text(8_192)),
})

const page = { access: 'public', query, status: 302 } as const
const prompt = { ...page, summary: 'Open the page of a prompt' } as const
const version = { ...page, summary: 'Open the page of a version of a prompt' } as const

export const openPrompt = operation('GET', '/api/v1/prompts/:name', { ...prompt, params: named })

export const openPromptCommit = operation('GET', '/api/v1/prompts/:name/:commit', {
  ...version,
  params: committed,
})

export const openContext = operation('GET', '/api/v1/context/:name', { ...prompt, params: named })

export const openContextCommit = operation('GET', '/api/v1/context/:name/:commit', {
  ...version,
  params: committed,
})

export const openHubPrompt = operation('GET', '/api/v1/hub/:owner/:name', {
  ...prompt,
  params: Type.Object({ ...owner, ...named.properties }),
})

export const openHubCommit = operation('GET', '/api/v1/hub/:owner/:name/:commit', {
  ...version,
  params: Type.Object({ ...owner, ...committed.properties }),
})
