// Icons, drawn here: no font, no request, no library. All on a 16 by 16 grid, stroked with the text's colour.
import type { ReactNode } from "react";

const paths = {
  plus: <path d="M8 3v10M3 8h10" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4" />
      <path d="m10 10 3.5 3.5" />
    </>
  ),
  chevron: <path d="m6 4 4 4-4 4" />,
  down: <path d="M8 3v10m-4-4 4 4 4-4" />,
  up: <path d="M8 13V3M4 7l4-4 4 4" />,
  check: <path d="m3.5 8.5 3 3 6-7" />,
  cross: <path d="m4 4 8 8m0-8-8 8" />,
  dots: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />,
  terminal: <path d="m3 5 3 3-3 3m5 0h5" />,
  file: <path d="M4 2.5h5L12.5 6v7.5H4zM9 2.5V6h3.5" />,
  edit: <path d="m10.5 3 2.5 2.5-7 7-3 .5.5-3z" />,
  globe: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M2.5 8h11M8 2.5c2 1.6 2.6 3.6 2.6 5.500S10 12 8 13.500C6 12 5.4 10 5.4 8S6 4.1 8 2.5" />
    </>
  ),
  wrench: <path d="M10.5 2.800a3.2 3.2 0 0 0-3.7 4.300l-4.1 4.1 2.1 2.1 4.1-4.100a3.2 3.2 0 0 0 4.3-3.700L11.3 7.4 8.6 4.700z" />,
  users: (
    <>
      <circle cx="6" cy="5.5" r="2.2" />
      <path d="M2 13c0-2.4 1.6-4 4-4s4 1.6 4 4M10.5 3.600a2 2 0 0 1 0 3.800M11.7 9.300c1.5.500 2.3 1.8 2.3 3.7" />
    </>
  ),
  list: <path d="M6 4h7M6 8h7M6 12h7M3 4h.01M3 8h.01M3 12h.01" />,
  bulb: <path d="M6.2 13h3.600M6.5 11c0-1.5-2-2.3-2-4.700a3.5 3.5 0 0 1 7 0C11.5 8.7 9.5 9.5 9.5 11z" />,
  stop: <rect x="4.5" y="4.5" width="7" height="7" rx="1" />,
  send: <path d="M8 13V3m-4 4 4-4 4 4" />,
  clip: <path d="m12.5 7.5-4.7 4.700a2.8 2.8 0 0 1-4-4l5-5a1.9 1.9 0 0 1 2.7 2.700l-4.9 4.900a.9.9 0 0 1-1.3-1.300l4.3-4.3" />,
  panel: (
    <>
      <rect x="2.5" y="3" width="11" height="10" rx="1.5" />
      <path d="M10 3v10" />
    </>
  ),
  sidebar: (
    <>
      <rect x="2.5" y="3" width="11" height="10" rx="1.5" />
      <path d="M6 3v10" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.6" />
      <path d="M8 1.800v1.400M8 12.800v1.400M1.8 8h1.400M12.8 8h1.400M3.6 3.600l1 1M11.4 11.400l1 1M12.4 3.600l-1 1M4.6 11.400l-1 1" />
    </>
  ),
  moon: <path d="M13 9.500A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.500z" />,
  auto: (
    <>
      <circle cx="8" cy="8" r="5" />
      <path d="M8 3v10a5 5 0 0 0 0-10z" fill="currentColor" />
    </>
  ),
  shield: <path d="M8 2.5 13 4v4c0 3-2 4.8-5 5.800C5 12.8 3 11 3 8V4z" />,
  question: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M6.4 6.400A1.6 1.6 0 1 1 8 8.200v.8M8 11h.01" />
    </>
  ),
  alert: <path d="M8 2.8 14 13H2zM8 6.500v3M8 11.200h.01" />,
  external: <path d="M6 3.500H3.500v9h9V10M9 3h4v4M13 3 7.5 8.5" />,
  copy: (
    <>
      <rect x="5.5" y="5.5" width="7.5" height="7.5" rx="1" />
      <path d="M3 10.500V3h7.5" />
    </>
  ),
  download: <path d="M8 2.500v7.500m-3-3 3 3 3-3M3 13h10" />,
  play: <path d="m5 3.5 7 4.5-7 4.500z" />,
  pause: <path d="M5.5 3.500v9M10.5 3.500v9" />,
  back: <path d="m10 4-4 4 4 4" />,
  branch: (
    <>
      <circle cx="4.5" cy="4" r="1.5" />
      <circle cx="4.5" cy="12" r="1.5" />
      <circle cx="11.5" cy="5.5" r="1.5" />
      <path d="M4.5 5.500v5M11.5 7c0 2.5-4 2-6.2 3.6" />
    </>
  ),
  trash: <path d="M3 4.500h10M6.5 4V2.800h3V4M4.5 4.500l.6 8.700h5.800l.6-8.7" />,
  compress: <path d="M3 8h10M8 2v3.500m-2-2 2 2 2-2M8 14v-3.500m-2 2 2-2 2 2" />,
  flag: <path d="M4 14V2.500h8l-2 3 2 3H4" />,
  refresh: <path d="M13 8a5 5 0 1 1-1.5-3.600M13 2.500V5h-2.5" />,
  eye: (
    <>
      <path d="M1.8 8S4 4 8 4s6.2 4 6.2 4S12 12 8 12 1.8 8 1.8 8z" />
      <circle cx="8" cy="8" r="1.8" />
    </>
  ),
  bell: <path d="M4 11V7.500a4 4 0 0 1 8 0V11l1 1H3zM7 13.800h2" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof paths;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    className="icon"
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.4"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {paths[name]}
  </svg>
);
