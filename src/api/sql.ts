/** Questions in SQL about the runs of projects. */

import { Type } from 'typebox'

import { Json, Nullable, Text, Uuid } from './json.ts'
import { operation } from './operation.ts'

const Rows = Type.Object({
  columns: Type.Array(Type.Object({ name: Text(), data_type: Text() })),
  rows: Type.Array(Type.Array(Json())),
  row_count: Type.Integer(),
  is_truncated: Type.Boolean(),
  truncation_reason: Nullable(Text()),
  execution_time_ms: Type.Integer(),
  warnings: Type.Array(Text()),
}, { $id: 'SqlRows', description: 'The rows that a question in SQL finds.' })

export const askSql = operation('POST', '/api/v2/sql/query', {
  access: 'read',
  summary: 'Ask about the runs of projects in SQL',
  body: Type.Object({
    project_ids: Type.Array(Uuid(), { minItems: 1, maxItems: 100 }),
    query: Type.String({ minLength: 1, maxLength: 20_000 }),
  }),
  answer: Rows,
})
