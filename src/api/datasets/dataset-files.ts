/** A version of a dataset as a file, however long it is. */

import { Type } from 'typebox'

import { operation } from '../operation.ts'
import { asOfField } from './datasets.ts'

const query = Type.Object(asOfField)

export const readDatasetCsv = operation('GET', '/api/v1/datasets/:id/csv', {
  access: 'read',
  summary: 'Read a dataset as CSV: a column for each input and output',
  query,
  media: 'text/csv',
})

export const readDatasetLines = operation('GET', '/api/v1/datasets/:id/jsonl', {
  access: 'read',
  summary: 'Read a dataset as lines of JSON',
  query,
  media: 'application/jsonl',
})

export const readFineTuningLines = operation('GET', '/api/v1/datasets/:id/openai_ft', {
  access: 'read',
  summary: 'Read a dataset of conversations as lines of JSON to fine-tune a model with',
  query,
  media: 'application/jsonl',
})
