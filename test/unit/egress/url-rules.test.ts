/** Which URLs may be called, judged by their text alone. */

import { describe, expect, it } from 'vitest'

import { AddressRules } from '../../../src/egress/address-rules.ts'
import { callableUrl } from '../../../src/egress/url-rules.ts'

const rules = new AddressRules([])

describe('a URL', () => {
  it.each(['https://example.org/hook', 'http://example.org', 'https://example.org:8443/a?b=c#d',
    'HTTPS://EXAMPLE.ORG/', 'http://example.org:80/', 'http://8.8.8.8/'])('may be called: %s',
      (url) => expect(callableUrl(url, rules).protocol).toMatch(/^https?:$/))

  it.each([
    ['', /absolute/],
    ['not a url', /absolute/],
    ['/hook', /absolute .* only the webhook of a run /],
    ['//example.org', /absolute/],
    ['ftp://example.org', /absolute/],
    ['file:///etc/passwd', /absolute/],
    ['javascript:alert(1)', /absolute/],
    ['http:example.org', /absolute/],
    ['http://', /absolute/],
    ['https://user@example.org', /user/],
    ['https://user:secret@example.org', /user/],
    ['https://:secret@example.org', /user/],
    ['http://example.org:22/', /port 22/],
    ['http://example.org:0/', /port 0/],
    ['https://example.org:1023', /port 1023/],
    [`https://example.org/${'a'.repeat(2_048)}`, /2048/],
    ['http://localhost/', /is loopback: .* started with --egress-allow localhost$/],
    ['http://a.LOCALHOST./', /loopback/],
    ['http://127.1:8080/', /loopback/],
    ['http://0/', /this network/],
    ['http://[::1]:8080/', /not global/],
    ['http://１２７.0.0.1/', /loopback/],
    ['http://169.254.169.254/latest/meta-data', /link-local/],
  ])('is refused with the reason: %s',
    (url, message) => expect(() => callableUrl(url, rules)).toThrow(message))

  it('is refused without a secret in the reason', () => {
    expect(() => callableUrl('https://user:secret@example.org', rules)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') as string }),
    )
  })
})
