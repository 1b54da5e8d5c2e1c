/** Lines of CSV: what spreadsheets would compute is a text to them, and comes back as it was. */

import { expect, it } from 'vitest'

import { lineOf } from '../../../../src/platform/evaluate/datasets/sent/csv.ts'
import { examplesInUpload } from '../../../../src/platform/evaluate/datasets/sent/upload.ts'

const cells = ['=1+1', '+HYPERLINK("http://x")', '-2+3', '@SUM(A1)', ' =1', '\t=1', '\r=1', '＝1',
  "'=1", "''=1", '-5', '+5.25', '1e9', '-1.5e-3', '', 'plain', "'quoted'", 'a=b', '"=1"']

it('No field of a spreadsheet is a formula, and a download that is uploaded is the same.', () => {
  const line = lineOf(cells)
  expect(line).not.toMatch(/(?:^|,)"?[\s]*[=@＝]/)
  expect(lineOf(['-5', '+5.25', 'plain'])).toBe('-5,+5.25,plain\r\n')
  expect(lineOf(['=cmd|1'])).toBe("'=cmd|1\r\n")
  const names = cells.map((_, place) => place === 0 ? '=name' : `n${place}`)
  const file = `${lineOf(names)}${line}`
  const type = 'multipart/form-data; boundary=b'
  const keys = ["'=name", ...names.slice(1)].map((name) =>
    `--b\r\nContent-Disposition: form-data; name="input_keys"\r\n\r\n${name}\r\n`
  )
  const body = `${keys.join('')}--b\r\nContent-Disposition: form-data; name="file"; ` +
    `filename="f.csv"\r\n\r\n${file}\r\n--b--\r\n`
  const { examples: [example] } = examplesInUpload(Buffer.from(body), type)
  const inputs = JSON.parse(Buffer.from(example!.inputs!).toString()) as Record<string, string>
  expect(Object.values(inputs)).toEqual(cells)
  expect(Object.keys(inputs)[0]).toBe('=name')
})
