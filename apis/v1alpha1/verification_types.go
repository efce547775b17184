// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// A VerificationMode specifies what happens to a module without a valid signature.
// +kubebuilder:validation:Enum=Enforce;Warn;Off
type VerificationMode string

// The modes of verification.
const (
	VerificationEnforce VerificationMode = "Enforce"
	VerificationWarn    VerificationMode = "Warn"
	VerificationOff     VerificationMode = "Off"
)

// A VerificationKey is a public key that verifies signatures of modules.
type VerificationKey struct {
	// signatureName is the name of the signature in the component descriptor that the key verifies.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SignatureName string `json:"signatureName"`

	// publicKeySecretRef selects the key of a Secret that contains the PEM-encoded public key.
	// +required
	PublicKeySecretRef SecretKeySelector `json:"publicKeySecretRef"`
}

// Verification specifies how signatures of modules are verified. It applies to modules with a component descriptor.
// +kubebuilder:validation:XValidation:rule="self.mode == 'Off' || (has(self.keys) && size(self.keys) > 0)",message="keys are required when mode is Enforce or Warn"
type Verification struct {
	// mode specifies what happens to a module without a valid signature. Enforce does not install it. Warn installs it and
	// reports the problem. Off disables verification.
	// +optional
	// +kubebuilder:default=Off
	Mode VerificationMode `json:"mode,omitempty"`

	// keys lists the trusted public keys, each identified by the name of the signature that it verifies.
	// +optional
	// +listType=map
	// +listMapKey=signatureName
	// +kubebuilder:validation:MaxItems=16
	Keys []VerificationKey `json:"keys,omitempty"`

	// minimumVersions lists the lowest versions of components that may be installed. An older version is treated as if it had
	// no valid signature. Use it to block outdated versions, whose signatures do not expire.
	// +optional
	// +listType=map
	// +listMapKey=component
	// +kubebuilder:validation:MaxItems=256
	MinimumVersions []MinimumVersion `json:"minimumVersions,omitempty"`

	// deniedDigests lists digests of components and of layers that must not be installed, even if they are signed. The hash
	// that the signature of a component covers denies it in any form, in a registry and in a spec.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=71
	// +kubebuilder:validation:items:Pattern=`^sha256:[0-9a-f]{64}$`
	DeniedDigests []string `json:"deniedDigests,omitempty"`
}

// A MinimumVersion is the lowest version of a component that may be installed.
type MinimumVersion struct {
	// component is the name of the component, such as kyma-project.io/module/template-operator.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Component string `json:"component"`

	// version is a semantic version, such as 1.2.3.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version"`
}
