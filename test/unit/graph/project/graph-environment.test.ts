/** Which variables graphs see. */

import { describe, expect, it } from 'vitest'

import { graphEnvironment } from '../../../../src/graph/project/graph-environment.ts'

const environment = {
  PATH: '/bin',
  NODE_ENV: 'test',
  LC_ALL: 'C',
  OPENAI_API_KEY: 'o',
  MY_KEY: 'm',
  MY_OTHER: 'n',
  HEDDLE_ENGINE_SHORTCUTS: 'off',
  HEDDLE_EGRESS_PROXY: 'http://u:p@proxy',
  HEDDLE_PORT: '1',
  HEDDLE_CLUSTER_SECRET: 's',
  HEDDLE_CLUSTER_SECRET_FILE: '/s',
  HEDDLE_CASSANDRA_PASSWORD: 'c',
  OTEL_EXPORTER_OTLP_HEADERS: 'key=h',
  OTEL_SERVICE_NAME: 'name',
}
const basic = ['HEDDLE_ENGINE_SHORTCUTS', 'LC_ALL', 'NODE_ENV', 'PATH']
const seen = (allowed?: readonly string[]) =>
  Object.keys(graphEnvironment(environment, allowed)).sort()

describe('graphs see', () => {
  it("by default all but what is the server's own", () => {
    expect(seen()).toEqual([...basic, 'MY_KEY', 'MY_OTHER', 'OPENAI_API_KEY'].sort())
  })

  it('only what is allowed, by name or by how it begins, and what every program needs', () => {
    expect(seen(['OPENAI_API_KEY'])).toEqual([...basic, 'OPENAI_API_KEY'].sort())
    expect(seen(['MY_*'])).toEqual([...basic, 'MY_KEY', 'MY_OTHER'].sort())
    expect(seen([])).toEqual(basic)
  })

  it('a variable of the server if it is named, unless it is a secret', () => {
    expect(seen(['OTEL_SERVICE_NAME', 'HEDDLE_*', 'OTEL_*'])).toEqual(
      [...basic, 'OTEL_SERVICE_NAME'].sort(),
    )
    expect(
      seen(['HEDDLE_CLUSTER_SECRET', 'HEDDLE_CASSANDRA_PASSWORD', 'HEDDLE_EGRESS_PROXY',
        'HEDDLE_CLUSTER_SECRET_FILE']),
    ).toEqual(basic)
  })
})
