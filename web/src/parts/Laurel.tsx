/** The logo. Decorative: the name stands beside it. */
export function Laurel() {
  return (
    <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
      <g fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round">
        <path d="M16 28C8 27 4 20 5 10" />
        <path d="M16 28c8-1 12-8 11-18" />
        <path d="M5.500 15C3 14 2 11.500 2.500 9M7.500 21C4.500 21 2.500 19 2 16.500M26.500 15c2.500-1 3.500-3.500 3-6M24.500 21c3 0 5-2 5.500-4.500" />
      </g>
      <path
        fill="currentColor"
        d="m16 5 2.300 4.900 5.200.7-3.800 3.700.9 5.300-4.600-2.600-4.600 2.600.9-5.300-3.800-3.700 5.200-.7z"
      />
    </svg>
  )
}
