/** OpenTelemetry, unmodified: exporters, the client's mode for it, batches of a collector. */

import { it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectToPass } from './drive.ts'

const server = useServer({ project: 'conformance' })

it('takes in what exporters send', () =>
  expectToPass({ args: ['otlp-driver.mjs', `${server.url}/api/v1`, 'otlp'] }, 8))

it.each<[string, Record<string, string>]>([
  ['otel mode', { LANGSMITH_PROJECT: 'otel mode' }],
  ['planner/production', { LANGSMITH_AGENT_ID: 'planner',
    LANGSMITH_AGENT_ENVIRONMENT: 'production' }],
])('takes in what the client sends to %s in its mode for OpenTelemetry',
  (project, env) =>
    expectToPass({
      args: ['otel-mode/driver.mjs', project],
      env: { LANGSMITH_TRACING: 'true', LANGSMITH_TRACING_MODE: 'otel',
        LANGSMITH_ENDPOINT: `${server.url}/api/v1`, LANGSMITH_API_KEY: 'a key', ...env },
    }, 2))

it('takes in batches of a collector', () =>
  expectToPass({ args: ['collector-driver.mjs', `${server.url}/api/v1`, 'collector'] }, 2))
