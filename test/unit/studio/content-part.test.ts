/** Parts of messages that graphs wrote: whatever an image's address is, the page stays. */

import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'

import { ContentPart } from '../../../src/studio/chat/content-part.tsx'

const imageAt = (url: unknown) =>
  renderToStaticMarkup(createElement(ContentPart, { part: { type: 'image_url', image_url: url } }))

it.each(['https://', 'http://[', 'https://a b', 'http:', 'javascript:alert(1)', '', '//x', 'x'])(
  'An image at %s is a sentence.',
  (url) => {
    expect(imageAt(url)).toContain('cannot be shown here')
    expect(imageAt({ url })).toContain('cannot be shown here')
  },
)

it('An image of another host is a link, and one in the message is shown.', () => {
  expect(imageAt('https://a.example/b.png')).toContain('href="https://a.example/b.png"')
  expect(imageAt('data:image/png;base64,AA==')).toContain('<img')
})
