/** First requests of clients of traces, and reports of clients and servers about themselves. */

import { Type } from 'typebox'

import { JsonObject, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'

const report = { access: 'public' } as const

export const getPlatformInfo = operation('GET', '/api/v1/info', {
  access: 'public',
  summary: 'Get the limits of batches, and the features that clients of traces may use',
  answer: Type.Object({
    version: Text(),
    heddle_version: Text(),
    batch_ingest_config: JsonObject(),
    instance_flags: JsonObject(),
    region: Type.Optional(Text()),
  }),
})

export const checkPlatform = operation('GET', '/api/v1/info/health', {
  access: 'public',
  summary: 'Check that the platform answers',
  answer: Type.Object({ ok: Type.Boolean() }),
})

export const getOrganisation = operation('POST', '/api/v1/auth', {
  access: 'read',
  summary: 'Get the tenant of the caller, as clients of evaluations ask',
  answer: Type.Object({
    org_config: Type.Object({ org_id: Uuid(), tenant_id: Uuid(), display_name: Text() }),
  }),
})

export const getPublicCaller = operation('GET', '/api/v1/auth/public', {
  access: 'read',
  summary: 'Get the tenant of the caller, as clients of prompts ask',
  answer: Type.Object({ organization_id: Uuid(), tenant_id: Uuid(), ls_user_id: Type.Null(),
    user_id: Type.Null(), user_email: Type.Null() }),
})

export const verifyBeacon = operation('POST', '/api/v1/beacon/verify', {
  access: 'public',
  summary: 'Take the licence of a server, which is not kept',
  answer: Type.Object({ token: Text() }),
})

export const ingestBeaconTraces = operation('POST', '/api/v1/beacon/ingest-traces', {
  access: 'public',
  summary: 'Take the usage of a server, which is not kept',
  answer: Type.Object({ inserted_count: Type.Integer() }),
})

const nothingThere = 'There is nothing here: the answer names the addresses beside it'

export const readBeacon = operation('GET', '/api/v1/beacon', { access: 'public',
  summary: nothingThere })

export const postBeacon = operation('POST', '/api/v1/beacon', { access: 'public',
  summary: nothingThere })

export const readGenerate = operation('GET', '/api/v1/generate', { access: 'read',
  summary: nothingThere })

export const postGenerate = operation('POST', '/api/v1/generate', { access: 'read',
  summary: nothingThere })

export const reportBeacon = operation('POST', '/api/v1/beacon/*', { ...report,
  summary: 'Take a report of a server, which is not kept' })

export const reportMetadata = operation('POST', '/api/v1/metadata/submit', { ...report,
  summary: 'Take a report of a client, which is not kept' })
